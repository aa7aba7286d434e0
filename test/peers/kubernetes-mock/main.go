// A CSI driver that is not ours: the mock that Kubernetes' own end-to-end tests link into their program, here on a
// socket of its own. It keeps volumes in memory and mounts nothing.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"k8s.io/kubernetes/test/e2e/storage/drivers/csi-test/driver"
	"k8s.io/kubernetes/test/e2e/storage/drivers/csi-test/mock/service"
)

func main() {
	var config service.Config
	endpoint := flag.String("endpoint", "", "unix:///… to listen on")
	flag.StringVar(&config.DriverName, "driver-name", service.Name, "name, and id of the node")
	flag.Int64Var(&config.AttachLimit, "attach-limit", 0, "volumes that a node can have; 0: any number")
	flag.BoolVar(&config.EnableTopology, "topology", false, "volumes belong to a place")
	flag.BoolVar(&config.PermissiveTargetPath, "permissive-target-path", false, "make target paths that are not there")
	flag.Parse()
	if err := serve(*endpoint, config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(endpoint string, config service.Config) error {
	socket, isUnix := strings.CutPrefix(endpoint, "unix://")
	if !isUnix {
		return fmt.Errorf("-endpoint: expected unix:///…, found %q", endpoint)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	mock := service.New(config)
	server := driver.NewCSIDriver(&driver.CSIDriverServers{Controller: mock, Identity: mock, Node: mock})
	if err := server.Start(listener, nil); err != nil {
		return err
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	<-ended
	server.Stop()
	return nil
}
