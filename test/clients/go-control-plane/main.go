// Decodes the JSON pages of an admin interface strictly with go-control-plane's types: an unknown
// field, a wrong enum or a wrong number form is an error. Usage: decode ADDRESS
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"

	admin "github.com/envoyproxy/go-control-plane/envoy/admin/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/file/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

func main() {
	pages := []struct {
		path    string
		message proto.Message
	}{
		{"/server_info", &admin.ServerInfo{}},
		{"/clusters?format=json", &admin.Clusters{}},
		{"/listeners?format=json", &admin.Listeners{}},
		{"/certs", &admin.Certificates{}},
		{"/memory", &admin.Memory{}},
		{"/init_dump", &admin.UnreadyTargetsDumps{}},
		{"/config_dump", &admin.ConfigDump{}},
		{"/config_dump?include_eds", &admin.ConfigDump{}},
		{"/config_dump?resource=static_clusters", &admin.ConfigDump{}},
		{"/config_dump?mask=bootstrap.node", &admin.ConfigDump{}},
	}
	failed := false
	for _, page := range pages {
		if err := decode(os.Args[1]+page.path, page.message); err != nil {
			failed = true
			fmt.Printf("FAIL %s: %v\n", page.path, err)
			continue
		}
		fmt.Printf("ok   %s: %d bytes\n", page.path, proto.Size(page.message))
	}
	if failed {
		os.Exit(1)
	}
}

func decode(url string, message proto.Message) error {
	response, err := http.Get("http://" + url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d: %s", response.StatusCode, body)
	}
	return protojson.UnmarshalOptions{DiscardUnknown: false}.Unmarshal(body, message)
}
