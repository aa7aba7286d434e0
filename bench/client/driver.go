package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const (
	startPatience = 30 * time.Second
	stopPatience  = 30 * time.Second
	// Short against the 12 ms in which the fastest driver seen answers.
	pollInterval = 200 * time.Microsecond
)

// A driver process: started, killed and started again on the same data.
type driver struct {
	argv    []string
	socket  string
	logFile string
	cmd     *exec.Cmd
	exited  chan struct{}
	conn    *grpc.ClientConn
}

type started struct {
	// Milliseconds from exec to the first Probe that is answered OK.
	ProbeMs float64 `json:"probeMs"`
	// CPU milliseconds that the driver had used by then, user and system: what a busy machine stretches least.
	CpuMs float64 `json:"cpuMs"`
}

type memory struct {
	RssMiB  float64 `json:"rssMiB"`
	PeakMiB float64 `json:"peakMiB"`
}

func dial(socket string) (*grpc.ClientConn, error) {
	return grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithIdleTimeout(0))
}

func (d *driver) start() (*started, error) {
	log, err := os.OpenFile(d.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(d.argv[0], d.argv[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	// A client that is killed takes its driver along.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	d.cmd, d.exited = cmd, exited
	if err := d.firstProbe(began.Add(startPatience)); err != nil {
		return nil, err
	}
	elapsed := time.Since(began)
	cpu, err := ranFor(cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	if d.conn, err = dial(d.socket); err != nil {
		return nil, err
	}
	return &started{ProbeMs: ms(elapsed), CpuMs: ms(cpu)}, nil
}

// firstProbe connects as soon as anything accepts on the socket, so that gRPC's reconnect backoff is no part of the
// measurement, and returns after a Probe that is OK.
func (d *driver) firstProbe(deadline time.Time) error {
	for time.Now().Before(deadline) {
		select {
		case <-d.exited:
			return fmt.Errorf("the driver ended before it answered a Probe, see %s", d.logFile)
		default:
		}
		if raw, err := net.Dial("unix", d.socket); err == nil {
			raw.Close()
			if d.probe() == nil {
				return nil
			}
		}
		time.Sleep(pollInterval)
	}
	return fmt.Errorf("no Probe was answered within %s, see %s", startPatience, d.logFile)
}

func (d *driver) probe() error {
	conn, err := dial(d.socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	_, err = csi.NewIdentityClient(conn).Probe(ctx, &csi.ProbeRequest{})
	return err
}

func (d *driver) hangUp() {
	if d.conn != nil {
		d.conn.Close()
		d.conn = nil
	}
}

func (d *driver) kill() {
	if d.cmd == nil {
		return
	}
	d.hangUp()
	_ = d.cmd.Process.Kill()
	<-d.exited
	d.cmd = nil
}

func (d *driver) stop() error {
	if d.cmd == nil {
		return nil
	}
	d.hangUp()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-d.exited:
		d.cmd = nil
		return nil
	case <-time.After(stopPatience):
		d.kill()
		return fmt.Errorf("did not end within %s of SIGTERM", stopPatience)
	}
}

// restart kills the driver and starts it again, `repeat` times, as a crash would.
func (d *driver) restart(repeat int) ([]started, error) {
	var all []started
	for range repeat {
		d.kill()
		one, err := d.start()
		if err != nil {
			return nil, err
		}
		all = append(all, *one)
	}
	return all, nil
}

// ranFor is how long the threads of a process have run so far, to the nanosecond: the ticks of stat are too coarse for a start.
func ranFor(pid int) (time.Duration, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	var total time.Duration
	for _, file := range files {
		data, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue // the thread has just ended
		}
		if err != nil {
			return 0, err
		}
		var ran int64
		if _, err := fmt.Sscan(string(data), &ran); err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		total += time.Duration(ran)
	}
	return total, nil
}

// cpuSeconds is what the driver and its reaped children have used, from proc_pid_stat(5): utime, stime, cutime, cstime.
func (d *driver) cpuSeconds() (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	// The command's name may hold blanks: count from behind its closing parenthesis, where field 3 comes first.
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	if len(fields) < 15 {
		return 0, errors.New("/proc/<pid>/stat is shorter than expected")
	}
	var ticks int64
	for _, field := range fields[11:15] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	// USER_HZ is 100 on every architecture Linux has today.
	return float64(ticks) / 100, nil
}

func (d *driver) memory() (*memory, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		return nil, err
	}
	kib := func(name string) float64 {
		for line := range strings.Lines(string(data)) {
			if rest, found := strings.CutPrefix(line, name+":"); found {
				n, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
				return n
			}
		}
		return 0
	}
	return &memory{RssMiB: kib("VmRSS") / 1024, PeakMiB: kib("VmHWM") / 1024}, nil
}
