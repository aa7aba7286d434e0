module fake-csi/bench

go 1.25.0

require (
	github.com/container-storage-interface/spec v1.12.0
	golang.org/x/sys v0.46.0
	google.golang.org/grpc v1.82.0
)

require (
	golang.org/x/net v0.53.0 // indirect
	golang.org/x/text v0.36.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260414002931-afd174a4e478 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
)
