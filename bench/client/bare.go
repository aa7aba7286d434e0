package main

import (
	"context"
	"net"
	"os"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// A bareServer is the least that a driver in Go is: it answers two calls and has no volumes.
type bareServer struct {
	csi.UnimplementedIdentityServer
	csi.UnimplementedNodeServer
}

func (bareServer) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{Ready: wrapperspb.Bool(true)}, nil
}

func (bareServer) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	types := []csi.NodeServiceCapability_RPC_Type{
		csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME,
		csi.NodeServiceCapability_RPC_GET_VOLUME_STATS,
		csi.NodeServiceCapability_RPC_EXPAND_VOLUME,
		csi.NodeServiceCapability_RPC_VOLUME_CONDITION,
		csi.NodeServiceCapability_RPC_SINGLE_NODE_MULTI_WRITER,
	}
	reply := &csi.NodeGetCapabilitiesResponse{}
	for _, one := range types {
		rpc := &csi.NodeServiceCapability_Rpc{Rpc: &csi.NodeServiceCapability_RPC{Type: one}}
		reply.Capabilities = append(reply.Capabilities, &csi.NodeServiceCapability{Type: rpc})
	}
	return reply, nil
}

// serveBare runs until it is killed.
func serveBare(socket string) error {
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	csi.RegisterIdentityServer(server, bareServer{})
	csi.RegisterNodeServer(server, bareServer{})
	return server.Serve(listener)
}
