package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
)

// How many volumes are published, and taken down, at a time when a level is filled or drained.
const fillConcurrency = 8

type volumes struct {
	dir    string
	fsType string
	size   int64
	// Published and left so, while others go through their cycles beside them.
	standing []*volume
	// Cycles so far: no name is used twice in a run.
	cycles int
}

func newVolumes(dir, fsType string, size int64) *volumes {
	return &volumes{dir: dir, fsType: fsType, size: size}
}

// A volume on its way: the seven calls, each with the folders the CO makes for it.
type volume struct {
	controller csi.ControllerClient
	node       csi.NodeClient
	set        *volumes
	name       string
	id         string
	context    map[string]string
	staging    string
	target     string
}

func (v *volumes) volume(conn *grpc.ClientConn, name string) *volume {
	return &volume{
		controller: csi.NewControllerClient(conn),
		node:       csi.NewNodeClient(conn),
		set:        v,
		name:       name,
		staging:    filepath.Join(v.dir, "staging", name),
		target:     filepath.Join(v.dir, "pods", name, "mount"),
	}
}

func (v *volumes) capability() *csi.VolumeCapability {
	return &csi.VolumeCapability{
		AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER},
		AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{FsType: v.fsType}},
	}
}

// call makes one RPC with the deadline the kubelet gives.
func call[Request, Response any](r recorder, name string, rpc func(context.Context, *Request, ...grpc.CallOption) (*Response, error), request *Request) (response *Response, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	err = r.time(name, func() error {
		response, err = rpc(ctx, request)
		return err
	})
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return response, err
}

func (v *volume) up(r recorder) error {
	if err := errors.Join(os.MkdirAll(v.staging, 0o750), os.MkdirAll(filepath.Dir(v.target), 0o750)); err != nil {
		return err
	}
	created, err := call(r, "CreateVolume", v.controller.CreateVolume, &csi.CreateVolumeRequest{
		Name:               v.name,
		CapacityRange:      &csi.CapacityRange{RequiredBytes: v.set.size},
		VolumeCapabilities: []*csi.VolumeCapability{v.set.capability()},
	})
	if err != nil {
		return err
	}
	v.id, v.context = created.Volume.VolumeId, created.Volume.VolumeContext
	if _, err := call(r, "NodeStageVolume", v.node.NodeStageVolume, &csi.NodeStageVolumeRequest{
		VolumeId: v.id, StagingTargetPath: v.staging, VolumeCapability: v.set.capability(), VolumeContext: v.context,
	}); err != nil {
		return err
	}
	if _, err := call(r, "NodePublishVolume", v.node.NodePublishVolume, &csi.NodePublishVolumeRequest{
		VolumeId: v.id, StagingTargetPath: v.staging, TargetPath: v.target, VolumeCapability: v.set.capability(), VolumeContext: v.context,
	}); err != nil {
		return err
	}
	return isMounted(v.target, v.set.fsType, v.set.size)
}

func (v *volume) stats(r recorder) error {
	got, err := call(r, "NodeGetVolumeStats", v.node.NodeGetVolumeStats, &csi.NodeGetVolumeStatsRequest{
		VolumeId: v.id, VolumePath: v.target, StagingTargetPath: v.staging,
	})
	if err == nil && len(got.Usage) == 0 {
		err = errors.New("NodeGetVolumeStats: no usage in the answer")
	}
	return err
}

func (v *volume) down(r recorder) error {
	if _, err := call(r, "NodeUnpublishVolume", v.node.NodeUnpublishVolume, &csi.NodeUnpublishVolumeRequest{
		VolumeId: v.id, TargetPath: v.target,
	}); err != nil {
		return err
	}
	if _, err := os.Lstat(v.target); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is still there after NodeUnpublishVolume", v.target)
	}
	if _, err := call(r, "NodeUnstageVolume", v.node.NodeUnstageVolume, &csi.NodeUnstageVolumeRequest{
		VolumeId: v.id, StagingTargetPath: v.staging,
	}); err != nil {
		return err
	}
	if _, err := call(r, "DeleteVolume", v.controller.DeleteVolume, &csi.DeleteVolumeRequest{VolumeId: v.id}); err != nil {
		return err
	}
	return errors.Join(os.Remove(v.staging), os.Remove(filepath.Dir(v.target)))
}

// publish fills up to `count` standing volumes.
func (v *volumes) publish(conn *grpc.ClientConn, count int) error {
	first := len(v.standing)
	added := make([]*volume, max(0, count-first))
	err := spread(len(added), func(i int) error {
		added[i] = v.volume(conn, fmt.Sprintf("standing-%d", first+i))
		return added[i].up(recorder{})
	})
	v.standing = append(v.standing, added...)
	return err
}

// drain takes all standing volumes down, on the connection that is open now.
func (v *volumes) drain(conn *grpc.ClientConn) error {
	err := spread(len(v.standing), func(i int) error {
		one := v.standing[i]
		one.controller, one.node = csi.NewControllerClient(conn), csi.NewNodeClient(conn)
		return one.down(recorder{})
	})
	v.standing = nil
	return err
}

// spread does pieces 0 to n-1, a few at a time.
func spread(n int, piece func(i int) error) error {
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	errs := make(chan error, fillConcurrency)
	for range fillConcurrency {
		go func() {
			for i := range next {
				if err := piece(i); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	var all error
	for range fillConcurrency {
		all = errors.Join(all, <-errs)
	}
	return all
}

type cyclesResult struct {
	PerSecond float64 `json:"perSecond"`
	Cycles    int64   `json:"cycles"`
	// CPU milliseconds of the driver and its reaped children, per cycle.
	CpuMs float64              `json:"cpuMs"`
	Rpcs  map[string]latencies `json:"rpcs"`
}

// measureCycles runs whole cycles in `concurrency` workers for `duration`, after `warmup` cycles each that do not count.
func (v *volumes) measureCycles(d *driver, concurrency, warmup int, duration time.Duration) (*cyclesResult, error) {
	v.cycles++
	cycle := func(r recorder, phase string, worker, turn int) error {
		one := v.volume(d.conn, fmt.Sprintf("cycle-%d-%s-%d-%d", v.cycles, phase, worker, turn))
		if err := one.up(r); err != nil {
			return err
		}
		if err := one.stats(r); err != nil {
			return err
		}
		return one.down(r)
	}
	if err := spread(warmup*concurrency, func(i int) error { return cycle(recorder{}, "warm", 0, i) }); err != nil {
		return nil, err
	}
	recorders := make([]recorder, concurrency)
	for i := range recorders {
		recorders[i] = recorder{}
	}
	before, err := d.cpuSeconds()
	if err != nil {
		return nil, err
	}
	done, elapsed, err := parallel(concurrency, duration, func(worker, turn int) error {
		return cycle(recorders[worker], "run", worker, turn)
	})
	if err != nil {
		return nil, err
	}
	after, err := d.cpuSeconds()
	if err != nil {
		return nil, err
	}
	return &cyclesResult{
		PerSecond: float64(done) / elapsed.Seconds(),
		Cycles:    done,
		CpuMs:     (after - before) * 1000 / float64(done),
		Rpcs:      mergeRecorders(recorders),
	}, nil
}
