package main

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
)

const callTimeout = 60 * time.Second

func ms(d time.Duration) float64 {
	return float64(d) / float64(time.Millisecond)
}

// Latencies of one RPC, in milliseconds.
type latencies struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// percentile of sorted values, nearest rank.
func percentile(sorted []time.Duration, p float64) time.Duration {
	return sorted[max(0, int(math.Ceil(p*float64(len(sorted))))-1)]
}

func summarize(samples []time.Duration) latencies {
	slices.Sort(samples)
	return latencies{P50: ms(percentile(samples, 0.50)), P99: ms(percentile(samples, 0.99))}
}

// A recorder belongs to one worker, so that measuring takes no lock.
type recorder map[string][]time.Duration

func (r recorder) time(name string, call func() error) error {
	began := time.Now()
	err := call()
	r[name] = append(r[name], time.Since(began))
	return err
}

func mergeRecorders(all []recorder) map[string]latencies {
	samples := recorder{}
	for _, one := range all {
		for name, list := range one {
			samples[name] = append(samples[name], list...)
		}
	}
	merged := map[string]latencies{}
	for name, list := range samples {
		merged[name] = summarize(list)
	}
	return merged
}

// parallel runs `work` in `concurrency` workers until `duration` has passed; each worker ends the piece of work it is
// in. The first error ends all.
func parallel(concurrency int, duration time.Duration, work func(worker, turn int) error) (done int64, elapsed time.Duration, err error) {
	var group sync.WaitGroup
	var count atomic.Int64
	var failed atomic.Pointer[error]
	began := time.Now()
	for worker := range concurrency {
		group.Go(func() {
			for turn := 0; time.Since(began) < duration && failed.Load() == nil; turn++ {
				if err := work(worker, turn); err != nil {
					failed.CompareAndSwap(nil, &err)
					return
				}
				count.Add(1)
			}
		})
	}
	group.Wait()
	if first := failed.Load(); first != nil {
		err = *first
	}
	return count.Load(), time.Since(began), err
}

type rate struct {
	PerSecond float64   `json:"perSecond"`
	Latency   latencies `json:"latency"`
}

// measureCapabilities calls NodeGetCapabilities on one kept connection, or, as the kubelet does, on a new one each time.
func measureCapabilities(d *driver, concurrency int, fresh bool, duration time.Duration) (*rate, error) {
	recorders := make([]recorder, concurrency)
	for i := range recorders {
		recorders[i] = recorder{}
	}
	call := func() error {
		conn := d.conn
		if fresh {
			own, err := dial(d.socket)
			if err != nil {
				return err
			}
			defer own.Close()
			conn = own
		}
		ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
		defer cancel()
		_, err := csi.NewNodeClient(conn).NodeGetCapabilities(ctx, &csi.NodeGetCapabilitiesRequest{})
		return err
	}
	// A tenth of the time first, so that neither side is measured cold.
	if _, _, err := parallel(concurrency, duration/10, func(int, int) error { return call() }); err != nil {
		return nil, err
	}
	done, elapsed, err := parallel(concurrency, duration, func(worker, _ int) error {
		return recorders[worker].time("call", call)
	})
	if err != nil {
		return nil, err
	}
	return &rate{PerSecond: float64(done) / elapsed.Seconds(), Latency: mergeRecorders(recorders)["call"]}, nil
}
