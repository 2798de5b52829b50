// A control plane made of go-control-plane's own server, caches and test snapshots. It reads versions
// from standard input, one in a line, serves the snapshot of each, and says `set VERSION` then.
// Usage: server -xds ads|xds|delta|delta-ads|rest [-mux] [-tls] -port N -gateway N -base N -upstream N
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	kinds "github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	conf "github.com/envoyproxy/go-control-plane/pkg/server/config"
	"github.com/envoyproxy/go-control-plane/pkg/server/sotw/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"github.com/envoyproxy/go-control-plane/pkg/test"
	"github.com/envoyproxy/go-control-plane/pkg/test/resource/v3"
	testv3 "github.com/envoyproxy/go-control-plane/pkg/test/v3"
)

func main() {
	mode := flag.String("xds", resource.Ads, "protocol")
	mux := flag.Bool("mux", false, "endpoints from a linear cache beside the snapshots")
	tls := flag.Bool("tls", false, "listeners with TLS and secrets from here")
	port := flag.Uint("port", 0, "of the gRPC server")
	gateway := flag.Uint("gateway", 0, "of the REST server")
	base := flag.Uint("base", 0, "of the first listener")
	upstream := flag.Uint("upstream", 0, "of the upstream server")
	flag.Parse()
	ctx := context.Background()

	config := cache.NewSnapshotCache(*mode == resource.Ads, cache.IDHash{}, nil)
	endpoints := cache.NewLinearCache(kinds.EndpointType)
	var served cache.Cache = config
	if *mux {
		classify := func(typeURL string) string {
			if typeURL == kinds.EndpointType {
				return "endpoints"
			}
			return "rest"
		}
		served = &cache.MuxCache{
			Classify:      func(request *cache.Request) string { return classify(request.GetTypeUrl()) },
			ClassifyDelta: func(request *cache.DeltaRequest) string { return classify(request.GetTypeUrl()) },
			Caches:        map[string]cache.Cache{"endpoints": endpoints, "rest": config},
		}
	}
	options := []conf.XDSOption{}
	if *mode == resource.Ads {
		options = append(options, sotw.WithOrderedADS())
	}
	callbacks := &testv3.Callbacks{Signal: make(chan struct{})}
	srv := server.NewServer(ctx, served, callbacks, options...)
	go test.RunManagementServer(ctx, srv, *port)
	go test.RunManagementGateway(ctx, srv, *gateway)

	snapshots := resource.TestSnapshot{
		Xds:              *mode,
		UpstreamPort:     uint32(*upstream),
		BasePort:         uint32(*base),
		NumClusters:      4,
		NumHTTPListeners: 2,
		NumTCPListeners:  2,
		NumRuntimes:      1,
		TLS:              *tls,
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		snapshots.Version = lines.Text()
		snapshot := snapshots.Generate()
		exitOn(config.SetSnapshot(ctx, "test-id", snapshot))
		for name, each := range snapshot.GetResources(kinds.EndpointType) {
			exitOn(endpoints.UpdateResource(name, each))
		}
		fmt.Printf("set %s\n", snapshots.Version)
	}
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
