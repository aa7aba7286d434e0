// Command client drives one CSI driver for the benchmark: it starts the driver as its child, in the mount namespace
// it was itself started in, and measures what it is told to on standard input. One JSON object a line, in and out; it
// stops the driver and ends when its input ends.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

// A command names an operation and its numbers; fields an operation does not use are absent.
type command struct {
	Op          string  `json:"op"`
	Count       int     `json:"count"`
	Concurrency int     `json:"concurrency"`
	Seconds     float64 `json:"seconds"`
	Warmup      int     `json:"warmup"`
	Repeat      int     `json:"repeat"`
	Fresh       bool    `json:"fresh"`
}

type session struct {
	driver  *driver
	volumes *volumes
}

func (s *session) do(c command) (any, error) {
	duration := time.Duration(c.Seconds * float64(time.Second))
	switch c.Op {
	case "start":
		return s.driver.start()
	case "stop":
		return nil, s.driver.stop()
	case "restart":
		return s.driver.restart(c.Repeat)
	case "memory":
		return s.driver.memory()
	case "publish":
		return nil, s.volumes.publish(s.driver.conn, c.Count)
	case "drain":
		return nil, s.volumes.drain(s.driver.conn)
	case "cycles":
		return s.volumes.measureCycles(s.driver, c.Concurrency, c.Warmup, duration)
	case "capabilities":
		return measureCapabilities(s.driver, c.Concurrency, c.Fresh, duration)
	default:
		return nil, fmt.Errorf("unknown operation %q", c.Op)
	}
}

func main() {
	// The driver dies with the thread that started it (Pdeathsig), so that has to be one that stays: the main one.
	runtime.LockOSThread()
	socket := flag.String("socket", "", "path of the driver's Unix socket")
	dir := flag.String("dir", "", "folder for staging and target paths, and the driver's log")
	fsType := flag.String("fs", "", "filesystem type of the volumes; verified on each target when given")
	size := flag.Int64("size", 16<<20, "bytes of a volume")
	bare := flag.String("bare", "", "serve two calls on this socket, and drive nothing")
	flag.Parse()
	if *bare != "" {
		fmt.Fprintln(os.Stderr, "client:", serveBare(*bare))
		os.Exit(1)
	}
	if *socket == "" || *dir == "" || flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: client -socket PATH -dir DIR [-fs TYPE] [-size BYTES] -- DRIVER ARGUMENTS...")
		os.Exit(2)
	}
	s := &session{
		driver:  &driver{argv: flag.Args(), socket: *socket, logFile: *dir + "/driver.log"},
		volumes: newVolumes(*dir, *fsType, *size),
	}
	defer s.driver.kill()
	out := json.NewEncoder(os.Stdout)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var c command
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			fmt.Fprintln(os.Stderr, "client: not a command:", err)
			return
		}
		result, err := s.do(c)
		reply := map[string]any{"result": result}
		if err != nil {
			reply = map[string]any{"error": fmt.Sprintf("%s: %v", c.Op, err)}
		}
		if err := out.Encode(reply); err != nil {
			return
		}
	}
}
