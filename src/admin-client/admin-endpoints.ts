/**
 * The endpoints of the administration interface and their parameters.
 *
 * Made from the routing table by `node dist/scripts/pages/write-pages.js`; do not edit.
 */

/** Numbers are sent as text, lists as a parameter for each entry; a flag is sent when it is true. */
type Text = string | number | readonly string[];

/** Asked by GET. */
interface ReadEndpoints {
  /** Admin home page */
  readonly '/': Record<never, never>;
  /** print certs on machine */
  readonly '/certs': Record<never, never>;
  /** upstream cluster status */
  readonly '/clusters': {
    /** Regular expression (Google re2) for filtering clusters by name */
    readonly filter: Text;
    readonly format: Text;
  };
  /** dump current Sluice configs */
  readonly '/config_dump': {
    /** The resource to dump */
    readonly resource: Text;
    /** The mask to apply. When both resource and mask are specified, the mask is applied to every element in the desired repeated field so that only a subset of fields are returned. The mask is parsed as a Protobuf::FieldMask */
    readonly mask: Text;
    /** Dump only the currently loaded configurations whose names match the specified regex. Can be used with both resource and mask query parameters. */
    readonly name_regex: Text;
    /** Dump currently loaded configuration including EDS. See the response definition for more information */
    readonly include_eds: boolean;
    /** yaml, or bootstrap: one file without a control plane that serves what is served now */
    readonly format: 'json' | 'yaml' | 'bootstrap';
    /** Elements of each list that are left out at its beginning */
    readonly offset: Text;
    /** Elements of each list at most */
    readonly limit: Text;
    /** The answer has a tag of the configuration, for if-none-match */
    readonly etag: boolean;
  };
  /** print what changed in the configuration while the server ran, and what was refused */
  readonly '/config_history': {
    /** Kind of the resources */
    readonly kind: 'secret' | 'extension' | 'cluster' | 'endpoints' | 'route_configuration' | 'virtual_host' | 'scoped_routes' | 'listener' | 'runtime';
    /** Name of the resource */
    readonly name: Text;
    /** Changes at most, the newest first; 100 by default */
    readonly limit: Text;
    /** a..b: what was different right after change b from right after change a; without b, now */
    readonly diff: Text;
    /** Lines for people, or JSON */
    readonly format: 'text' | 'json';
  };
  /** print open connections of clients: listener, client, protocol, route, cluster, host, age, bytes */
  readonly '/connections': {
    /** Name of the listener */
    readonly listener: Text;
    /** IP address, range such as 10.0.0.0/8, or address:port of the client */
    readonly client: Text;
    /** What the TLS client calls the server; *.example.com means every name below */
    readonly server_name: Text;
    /** HTTP/1.1, HTTP/2, HTTP (nothing asked yet) or TCP */
    readonly protocol: Text;
    /** Name of the route of an open request, or of the last one */
    readonly route: Text;
    /** Its cluster */
    readonly cluster: Text;
    /** Its host, such as 10.0.0.1:80 */
    readonly host: Text;
    /** Open for this many seconds or longer */
    readonly older_than: Text;
    /** Without a request for this many seconds or longer */
    readonly idle_for: Text;
    /** One connection, as worker:id */
    readonly id: Text;
    /** The largest first */
    readonly sort: 'age' | 'idle' | 'bytes' | 'streams';
    /** Connections at most, 1000 by default */
    readonly limit: Text;
    /** Lines for people, or JSON */
    readonly format: 'text' | 'json';
  };
  /** dump current Sluice mutex contention stats (if enabled) */
  readonly '/contention': Record<never, never>;
  /** print how far the drain of each listener is */
  readonly '/drain_status': {
    /** One JSON document, or an event stream */
    readonly format: 'json' | 'stream';
  };
  /** print what becomes of a request: listener, filter chain, routes, filters, cluster and hosts */
  readonly '/explain': {
    /** http://host/path, or /path with a header host */
    readonly url: Text;
    /** GET by default */
    readonly method: Text;
    /** name: value; may be given several times */
    readonly header: Text;
    /** The client's IP address, 127.0.0.1 by default */
    readonly client: Text;
    /** Name of the listener */
    readonly listener: Text;
    /** Where the client connects to: address:port or port */
    readonly to: Text;
    /** What a TLS client calls the server; the host of the url by default */
    readonly server_name: Text;
    /** Protocols of a TLS client, separated by commas */
    readonly alpn: Text;
    /** Text for people, or JSON */
    readonly format: 'text' | 'json';
  };
  /** print modules that are filters, with their versions in each worker, and filters that were left out */
  readonly '/filters': Record<never, never>;
  /** dump current Sluice heap (if supported) */
  readonly '/heap_dump': Record<never, never>;
  /** print out list of admin commands */
  readonly '/help': Record<never, never>;
  /** print hosts for which an operator has ordered a state or a weight */
  readonly '/hosts': Record<never, never>;
  /** print the hot restart compatibility version */
  readonly '/hot_restart_version': Record<never, never>;
  /** dump current Sluice init manager information (experimental) */
  readonly '/init_dump': {
    /** The desired component to dump unready targets. The mask is parsed as a Protobuf::FieldMask. For example, get the unready targets of all listeners with /init_dump?mask=listener` */
    readonly mask: Text;
  };
  /** print listener info */
  readonly '/listeners': {
    /** File format to use */
    readonly format: 'text' | 'json';
  };
  /** print current allocation/heap usage */
  readonly '/memory': Record<never, never>;
  /** print TCMalloc stats */
  readonly '/memory/tcmalloc': Record<never, never>;
  /** dump peak Sluice heap (if supported) */
  readonly '/peak_heap_dump': Record<never, never>;
  /** print server state, return 200 if LIVE, otherwise return 503 */
  readonly '/ready': Record<never, never>;
  /** print runtime values */
  readonly '/runtime': Record<never, never>;
  /** print server version/status information */
  readonly '/server_info': Record<never, never>;
  /** print server stats */
  readonly '/stats': {
    /** Only include stats that have been written by system since restart */
    readonly usedonly: boolean;
    /** Regular expression (Google re2) for filtering stats */
    readonly filter: Text;
    /** Invert the filter regex */
    readonly invert_filter: boolean;
    /** Format to use */
    readonly format: 'html' | 'active-html' | 'text' | 'json';
    /** Stat types to include. */
    readonly type: 'All' | 'Counters' | 'Histograms' | 'Gauges' | 'TextReadouts';
    /** Histogram bucket display mode */
    readonly histogram_buckets: 'cumulative' | 'disjoint' | 'detailed' | 'summary';
    /** What changed since the answer that gave this cursor; now begins */
    readonly since: Text;
  };
  /** print server stats in prometheus format */
  readonly '/stats/prometheus': {
    /** Only include stats that have been written by system since restart */
    readonly usedonly: boolean;
    /** Render text_readouts as new gaugues with value 0 (increases Prometheus data size) */
    readonly text_readouts: boolean;
    /** Regular expression (Google re2) for filtering stats */
    readonly filter: Text;
    /** Invert the filter regex */
    readonly invert_filter: boolean;
    /** OpenMetrics has help texts, and sampled requests that stand for values */
    readonly format: 'prometheus' | 'openmetrics';
    /** Histogram bucket display mode */
    readonly histogram_buckets: 'cumulative' | 'summary';
  };
  /** Show recent stat-name lookups */
  readonly '/stats/recentlookups': Record<never, never>;
}

/** Asked by POST. */
interface MutatingEndpoints {
  /** enable/disable the allocation profiler (if supported) */
  readonly '/allocprofiler': {
    /** enable/disable the allocation profiler */
    readonly enable: 'y' | 'n';
  };
  /** close connections of clients by filter, a share of them over a time */
  readonly '/connections/close': {
    /** Name of the listener */
    readonly listener: Text;
    /** IP address, range such as 10.0.0.0/8, or address:port of the client */
    readonly client: Text;
    /** What the TLS client calls the server; *.example.com means every name below */
    readonly server_name: Text;
    /** HTTP/1.1, HTTP/2, HTTP (nothing asked yet) or TCP */
    readonly protocol: Text;
    /** Name of the route of an open request, or of the last one */
    readonly route: Text;
    /** Its cluster */
    readonly cluster: Text;
    /** Its host, such as 10.0.0.1:80 */
    readonly host: Text;
    /** Open for this many seconds or longer */
    readonly older_than: Text;
    /** Without a request for this many seconds or longer */
    readonly idle_for: Text;
    /** One connection, as worker:id */
    readonly id: Text;
    /** Every connection is meant; without it, a filter is needed */
    readonly all: boolean;
    /** Percent of them, chosen at random; 100 by default */
    readonly share: Text;
    /** Seconds within which each is closed at a random moment; 0 by default */
    readonly over: Text;
    /** Cut open requests; without it, clients are asked to go with the next answer or a GOAWAY */
    readonly now: boolean;
    /** Seconds after which a connection that was asked to go is cut */
    readonly cut_after: Text;
  };
  /** enable/disable the CPU profiler */
  readonly '/cpuprofiler': {
    /** enables the CPU profiler */
    readonly enable: 'y' | 'n';
  };
  /** drain listeners */
  readonly '/drain_listeners': {
    /** When draining listeners, enter a graceful drain period prior to closing listeners. This behaviour and duration is configurable via server options or CLI */
    readonly graceful: boolean;
    /** When draining listeners, drain the connections but never stop the listeners. The graceful parameter has no effect when this is set, since the drain period only delays stopping the listeners */
    readonly skip_exit: boolean;
    /** Drains all inbound listeners. traffic_direction field in envoy_v3_api_msg_config.listener.v3.Listener is used to determine whether a listener is inbound or outbound. */
    readonly inboundonly: boolean;
    /** Drain this listener only */
    readonly listener: Text;
    /** Answer when the drain is over */
    readonly wait: boolean;
    /** Seconds before which the drain is not over */
    readonly min: Text;
    /** Seconds after which open connections are cut, instead of --drain-time-s */
    readonly max: Text;
    /** End the server when the drain is over */
    readonly exit: boolean;
    /** Close connections that have been idle for this many seconds (1 without a value) */
    readonly close_idle: Text;
  };
  /** load modules again that have changed: all of them in all workers, or none */
  readonly '/filters/reload': Record<never, never>;
  /** cause the server to fail health checks */
  readonly '/healthcheck/fail': Record<never, never>;
  /** cause the server to pass health checks */
  readonly '/healthcheck/ok': Record<never, never>;
  /** enable/disable the heap profiler */
  readonly '/heapprofiler': {
    /** enable/disable the heap profiler */
    readonly enable: 'y' | 'n';
  };
  /** drain a host, take it down or up again, or change its weight */
  readonly '/hosts/state': {
    /** Name of the cluster */
    readonly cluster: Text;
    /** The host as /clusters shows it, such as 10.0.0.1:80 */
    readonly host: Text;
    /** drain: open requests go on, new ones go elsewhere; down: as a host that fails; up: as if nothing had been ordered */
    readonly state: 'drain' | 'down' | 'up';
    /** Takes the place of the configured weight, from 1 */
    readonly weight: Text;
    /** Seconds after which the order is taken back; without it, it holds until state=up */
    readonly ttl: Text;
  };
  /** query/change logging levels */
  readonly '/logging': {
    /** Change multiple logging levels by setting to <logger_name1>:<desired_level1>,<logger_name2>:<desired_level2>. If fine grain logging is enabled, use __FILE__ or a glob experision as the logger name. For example, source/common*:warning */
    readonly paths: Text;
    /** Change given logger group to desired level, set to <logger_group_name>:<desired_level>. logger_group_name must be a logger name. */
    readonly group: Text;
    /** desired logging level, this will change all loggers's level */
    readonly level: 'trace' | 'debug' | 'info' | 'warning' | 'error' | 'critical' | 'off';
    /** Seconds after which the levels go back to what they were before */
    readonly for: Text;
  };
  /** log the way of single requests at debug, whatever the levels are */
  readonly '/logging/trace': {
    /** Path without its query; * stands for anything */
    readonly path: Text;
    /** IP address or range of the client */
    readonly client: Text;
    /** name: value, a header that the request has */
    readonly header: Text;
    /** Requests at most in each worker, 1 by default */
    readonly count: Text;
    /** Seconds after which nothing is logged any more, 60 by default */
    readonly for: Text;
    /** Logs no further request */
    readonly off: boolean;
  };
  /** exit the server */
  readonly '/quitquitquit': Record<never, never>;
  /** reopen access logs */
  readonly '/reopen_logs': Record<never, never>;
  /** reset all counters to zero */
  readonly '/reset_counters': Record<never, never>;
  /** Adds or modifies runtime values as passed in query parameters. To delete a previously added key, use an empty string as the value. Note that deletion only applies to overrides added via this endpoint; values loaded from disk can be modified via override but not deleted. E.g. ?key1=value1&key2=value2... */
  readonly '/runtime_modify': Record<never, never>;
  /** clear list of stat-name lookups and counter */
  readonly '/stats/recentlookups/clear': Record<never, never>;
  /** disable recording of reset stat-name lookup names */
  readonly '/stats/recentlookups/disable': Record<never, never>;
  /** enable recording of reset stat-name lookup names */
  readonly '/stats/recentlookups/enable': Record<never, never>;
  /** tap filter control */
  readonly '/tap': Record<never, never>;
  /** record requests or connections at listeners, without a filter, as HAR, NDJSON or pcap */
  readonly '/tap/listen': {
    /** Name of the listener; without it, all of them */
    readonly listener: Text;
    /** Path; with * at its end, whatever begins so */
    readonly path: Text;
    /** Host that is asked for */
    readonly host: Text;
    /** Method */
    readonly method: Text;
    /** Status of the answer: 404, 5xx */
    readonly status: Text;
    /** name: value of the request; may be given several times */
    readonly header: Text;
    /** A MatchPredicate of the API as JSON, besides */
    readonly match: Text;
    /** IP address or range of the client */
    readonly client: Text;
    /** Percent of the requests or connections, 100 by default */
    readonly sample: Text;
    /** Requests, or reads and writes of connections, after which it ends, 100 by default */
    readonly count: Text;
    /** Seconds after which it ends, 60 by default */
    readonly for: Text;
    /** Bytes of each body that are recorded, 65536 by default */
    readonly body: Text;
    /** har: for the developer tools of a browser; ndjson: a line of JSON for each; pcap: connections, as a capture of packets */
    readonly format: 'har' | 'ndjson' | 'pcap';
    /** Credentials and cookies in headers are recorded too */
    readonly secrets: boolean;
  };
  /** undo a drain of listeners, as long as none was closed */
  readonly '/undrain_listeners': Record<never, never>;
}

export type ReadPath = keyof ReadEndpoints;
export type MutatingPath = keyof MutatingEndpoints;

/** All parameters of an endpoint may be left out; the server says which it cannot do without. */
export type ParamsOf<Path extends ReadPath | MutatingPath> = {
  readonly [Name in keyof Endpoints[Path]]?: Endpoints[Path][Name] | undefined;
};

type Endpoints = ReadEndpoints & MutatingEndpoints;
