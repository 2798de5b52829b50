// Asks an admin interface what Istio's agent and Envoy Gateway's shutdown manager ask, byte for byte
// in the request target, and reads the answers by the same rules. Usage: gateways ADDRESS
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
)

func main() {
	base := "http://" + os.Args[1]
	failed := false
	for _, check := range []struct {
		name string
		run  func(string) error
	}{
		{"Istio: readiness", istioReadiness},
		{"Istio: updates", istioUpdates},
		{"Istio: connections while draining", istioConnections},
		{"Envoy Gateway: open connections", gatewayConnections},
		{"Envoy Gateway: health checks fail", gatewayFails},
		{"Istio: drain", istioDrain},
	} {
		if err := check.run(base); err != nil {
			failed = true
			fmt.Printf("FAIL %s: %v\n", check.name, err)
			continue
		}
		fmt.Printf("ok   %s\n", check.name)
	}
	if failed {
		os.Exit(1)
	}
}

// ask sends the query as it is written: net/url keeps it raw.
func ask(method, base, path, query string) (string, error) {
	target, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	target.Path = path
	target.RawQuery = query
	response, err := http.DefaultClient.Do(&http.Request{Method: method, URL: target, Header: http.Header{}})
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", response.StatusCode, body)
	}
	return string(body), err
}

// values reads lines of `name: value` with exactly one colon each.
func values(text string) (map[string]uint64, error) {
	read := map[string]uint64{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		parts := strings.Split(lines.Text(), ":")
		if len(parts) != 2 {
			return nil, fmt.Errorf("%q has not one colon", lines.Text())
		}
		value, err := strconv.ParseUint(strings.TrimSpace(parts[1]), 10, 64)
		if err != nil {
			return nil, err
		}
		read[parts[0]] = value
	}
	return read, nil
}

func istioReadiness(base string) error {
	text, err := ask("GET", base, "/stats", `usedonly&filter=^(server\.state|listener_manager\.workers_started)`)
	if err != nil {
		return err
	}
	read, err := values(text)
	if err != nil {
		return err
	}
	state, hasState := read["server.state"]
	if !hasState || state != 0 || read["listener_manager.workers_started"] != 1 {
		return fmt.Errorf("not ready: %v", read)
	}
	return nil
}

func istioUpdates(base string) error {
	text, err := ask("GET", base, "/stats", `usedonly&filter=^(cluster_manager\.cds|listener_manager\.lds)\.(update_success|update_rejected)$`)
	if err != nil {
		return err
	}
	_, err = values(text)
	return err
}

func istioConnections(base string) error {
	text, err := ask("GET", base, "/stats", "usedonly&filter=downstream_cx_active$")
	if err != nil {
		return err
	}
	read, err := values(text)
	if err != nil {
		return err
	}
	for name, value := range read {
		own := strings.Contains(name, "worker_") || strings.HasPrefix(name, "listener.admin.")
		if strings.HasPrefix(name, "listener.") && !own && value > 0 {
			return fmt.Errorf("%s is %d", name, value)
		}
	}
	return nil
}

var skipped = regexp.MustCompile(`admin|19001|19003|worker`)

func gatewayConnections(base string) error {
	text, err := ask("GET", base, "//stats", `filter=^listener\..*\.downstream_cx_active$&format=json`)
	if err != nil {
		return err
	}
	var page struct {
		Stats []struct {
			Name  string
			Value int
		}
	}
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		return err
	}
	seen := 0
	for _, stat := range page.Stats {
		if skipped.MatchString(stat.Name) {
			continue
		}
		seen++
		if stat.Value != 0 {
			return fmt.Errorf("%s is %d", stat.Name, stat.Value)
		}
	}
	if seen == 0 {
		return fmt.Errorf("no listener in %s", text)
	}
	return nil
}

func gatewayFails(base string) error {
	if _, err := ask("POST", base, "/healthcheck/fail", ""); err != nil {
		return err
	}
	if _, err := ask("GET", base, "/ready", ""); err == nil {
		return fmt.Errorf("still ready")
	}
	_, err := ask("POST", base, "/healthcheck/ok", "")
	return err
}

func istioDrain(base string) error {
	_, err := ask("POST", base, "/drain_listeners", "inboundonly&graceful&skip_exit")
	return err
}
