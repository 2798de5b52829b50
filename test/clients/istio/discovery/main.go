// Istio's discovery server with configuration from a file and no Kubernetes behind it, on a socket in a
// folder, where it also writes the bootstrap of Istio's own template. It says "ready" once it serves and
// ends with its input. Usage: discovery -folder F -config C -template T -node ID -admin P -status P
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"istio.io/istio/pilot/test/xds"
	"istio.io/istio/pkg/bootstrap"
	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/test"
)

var (
	folder   = flag.String("folder", "", "where the socket and the bootstrap are made")
	config   = flag.String("config", "", "file of Istio's configuration")
	template = flag.String("template", "", "Istio's bootstrap template")
	node     = flag.String("node", "router~127.0.0.1~gw.default~default.svc.cluster.local", "id of the node")
	admin    = flag.Int("admin", 15000, "port of the admin interface")
	status   = flag.Int("status", 15021, "port that answers for readiness")
	metrics  = flag.Int("metrics", 15090, "port of the statistics")
)

func main() {
	flag.Parse()
	if err := test.Wrap(serve); err != nil {
		log.Fatal(err)
	}
}

func serve(t test.Failer) {
	text, err := os.ReadFile(*config)
	if err != nil {
		t.Fatal(err)
	}
	settings := mesh.DefaultMeshConfig()
	settings.AccessLogFile = "/dev/stdout"
	xds.NewFakeDiscoveryServer(t, xds.FakeOptions{
		ConfigString: string(text),
		MeshConfig:   settings,
		ListenerBuilder: func() (net.Listener, error) {
			return net.Listen("unix", filepath.Join(*folder, "XDS"))
		},
	})
	writeBootstrap(t)
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func writeBootstrap(t test.Failer) {
	proxy := mesh.DefaultProxyConfig()
	proxy.ConfigPath = *folder
	proxy.ProxyAdminPort = int32(*admin)
	proxy.Concurrency = wrapperspb.Int32(2)
	data, err := bootstrap.GetNodeMetaData(bootstrap.MetadataOptions{
		ID:          *node,
		Envs:        []string{"ISTIO_META_NAMESPACE=default", "ISTIO_META_CLUSTER_ID=Kubernetes", `ISTIO_METAJSON_LABELS={"istio":"ingressgateway","app":"a"}`},
		InstanceIPs: []string{"127.0.0.1"},
		ProxyConfig: proxy,
		// The template's own listeners.
		EnvoyStatusPort:     *status,
		EnvoyPrometheusPort: *metrics,
	})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(*folder, "bootstrap.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := bootstrap.New(bootstrap.Config{Node: data}).WriteTo(*template, file); err != nil {
		t.Fatal(err)
	}
}
