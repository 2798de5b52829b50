/**
 * The extensions of Envoy 1.40.0, as its node tells control planes: category, name, and the full
 * names of its messages. Made by `node dist/scripts/record-extensions.js`.
 */
export const ENVOY_EXTENSIONS = `envoy.access_loggers envoy.access_loggers.dynamic_modules envoy.extensions.access_loggers.dynamic_modules.v3.DynamicModuleAccessLog
envoy.access_loggers envoy.access_loggers.file envoy.extensions.access_loggers.file.v3.FileAccessLog
envoy.access_loggers envoy.access_loggers.fluentd envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig
envoy.access_loggers envoy.access_loggers.http_grpc envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig
envoy.access_loggers envoy.access_loggers.open_telemetry envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig
envoy.access_loggers envoy.access_loggers.stats envoy.extensions.access_loggers.stats.v3.Config
envoy.access_loggers envoy.access_loggers.stderr envoy.extensions.access_loggers.stream.v3.StderrAccessLog
envoy.access_loggers envoy.access_loggers.stdout envoy.extensions.access_loggers.stream.v3.StdoutAccessLog
envoy.access_loggers envoy.access_loggers.tcp_grpc envoy.extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig
envoy.access_loggers envoy.access_loggers.wasm envoy.extensions.access_loggers.wasm.v3.WasmAccessLog
envoy.access_loggers.extension_filters envoy.access_loggers.extension_filters.cel envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter
envoy.access_loggers.extension_filters envoy.access_loggers.extension_filters.process_ratelimit envoy.extensions.access_loggers.filters.process_ratelimit.v3.ProcessRateLimitFilter
envoy.bootstrap envoy.bootstrap.dynamic_modules envoy.extensions.bootstrap.dynamic_modules.v3.DynamicModuleBootstrapExtension
envoy.bootstrap envoy.bootstrap.internal_listener envoy.extensions.bootstrap.internal_listener.v3.InternalListener
envoy.bootstrap envoy.bootstrap.reverse_tunnel.downstream_socket_interface envoy.extensions.bootstrap.reverse_tunnel.downstream_socket_interface.v3.DownstreamReverseConnectionSocketInterface
envoy.bootstrap envoy.bootstrap.reverse_tunnel.upstream_socket_interface envoy.extensions.bootstrap.reverse_tunnel.upstream_socket_interface.v3.UpstreamReverseConnectionSocketInterface
envoy.bootstrap envoy.bootstrap.wasm envoy.extensions.wasm.v3.WasmService
envoy.bootstrap envoy.extensions.network.socket_interface.default_socket_interface envoy.extensions.network.socket_interface.v3.DefaultSocketInterface
envoy.bootstrap envoy.extensions.network.socket_interface.sockmap envoy.extensions.network.socket_interface.sockmap.v3.Sockmap
envoy.clusters envoy.cluster.dns envoy.extensions.clusters.dns.v3.DnsCluster
envoy.clusters envoy.cluster.original_dst envoy.extensions.clusters.original_dst.v3.OriginalDstCluster
envoy.clusters envoy.clusters.aggregate envoy.extensions.clusters.aggregate.v3.ClusterConfig
envoy.clusters envoy.clusters.composite envoy.extensions.clusters.composite.v3.ClusterConfig
envoy.clusters envoy.clusters.dynamic_forward_proxy envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig
envoy.clusters envoy.clusters.dynamic_modules envoy.extensions.clusters.dynamic_modules.v3.ClusterConfig
envoy.clusters envoy.clusters.mcp_multicluster envoy.extensions.clusters.mcp_multicluster.v3.ClusterConfig
envoy.clusters envoy.clusters.redis envoy.extensions.clusters.redis.v3.RedisClusterConfig
envoy.clusters envoy.clusters.reverse_connection envoy.extensions.clusters.reverse_connection.v3.ReverseConnectionClusterConfig
envoy.common.key_value envoy.key_value.file_based envoy.extensions.key_value.file_based.v3.FileBasedKeyValueStoreConfig
envoy.compression.compressor envoy.compression.brotli.compressor envoy.extensions.compression.brotli.compressor.v3.Brotli
envoy.compression.compressor envoy.compression.gzip.compressor envoy.extensions.compression.gzip.compressor.v3.Gzip
envoy.compression.compressor envoy.compression.zstd.compressor envoy.extensions.compression.zstd.compressor.v3.Zstd
envoy.compression.decompressor envoy.compression.brotli.decompressor envoy.extensions.compression.brotli.decompressor.v3.Brotli
envoy.compression.decompressor envoy.compression.gzip.decompressor envoy.extensions.compression.gzip.decompressor.v3.Gzip
envoy.compression.decompressor envoy.compression.zstd.decompressor envoy.extensions.compression.zstd.decompressor.v3.Zstd
envoy.config.validators envoy.config.validators.dynamic_modules envoy.extensions.config.validators.dynamic_modules.v3.DynamicModuleConfigValidator
envoy.config.validators envoy.config.validators.minimum_clusters_validator envoy.extensions.config.validators.minimum_clusters.v3.MinimumClustersValidator
envoy.content_parsers envoy.content_parsers.json envoy.extensions.content_parsers.json.v3.JsonContentParser
envoy.dubbo_proxy.filters envoy.filters.dubbo.router envoy.extensions.filters.network.dubbo_proxy.router.v3.Router
envoy.filters.http envoy.extensions.filters.http.dynamic_modules envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilterPerRoute
envoy.filters.http envoy.filters.http.a2a envoy.extensions.filters.http.a2a.v3.A2a
envoy.filters.http envoy.filters.http.adaptive_concurrency envoy.extensions.filters.http.adaptive_concurrency.v3.AdaptiveConcurrency
envoy.filters.http envoy.filters.http.admission_control envoy.extensions.filters.http.admission_control.v3.AdmissionControl
envoy.filters.http envoy.filters.http.ai_protocol_manager envoy.extensions.filters.http.ai_protocol_manager.v3.AiProtocolManager envoy.extensions.filters.http.ai_protocol_manager.v3.AiProtocolManagerPerRoute
envoy.filters.http envoy.filters.http.alternate_protocols_cache envoy.extensions.filters.http.alternate_protocols_cache.v3.FilterConfig
envoy.filters.http envoy.filters.http.api_key_auth envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuth envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuthPerRoute
envoy.filters.http envoy.filters.http.aws_eventstream_parser envoy.extensions.filters.http.aws_eventstream_parser.v3.AwsEventstreamParser
envoy.filters.http envoy.filters.http.aws_lambda envoy.extensions.filters.http.aws_lambda.v3.Config envoy.extensions.filters.http.aws_lambda.v3.PerRouteConfig
envoy.filters.http envoy.filters.http.aws_request_signing envoy.extensions.filters.http.aws_request_signing.v3.AwsRequestSigning envoy.extensions.filters.http.aws_request_signing.v3.AwsRequestSigningPerRoute
envoy.filters.http envoy.filters.http.bandwidth_limit envoy.extensions.filters.http.bandwidth_limit.v3.BandwidthLimit
envoy.filters.http envoy.filters.http.bandwidth_share envoy.extensions.filters.http.bandwidth_share.v3.BandwidthShare
envoy.filters.http envoy.filters.http.basic_auth envoy.extensions.filters.http.basic_auth.v3.BasicAuth envoy.extensions.filters.http.basic_auth.v3.BasicAuthPerRoute
envoy.filters.http envoy.filters.http.body_size_limit envoy.extensions.filters.http.body_size_limit.v3.BodySizeLimit
envoy.filters.http envoy.filters.http.buffer envoy.extensions.filters.http.buffer.v3.Buffer envoy.extensions.filters.http.buffer.v3.BufferPerRoute
envoy.filters.http envoy.filters.http.cache envoy.extensions.filters.http.cache.v3.CacheConfig
envoy.filters.http envoy.filters.http.cache_v2 envoy.extensions.filters.http.cache_v2.v3.CacheV2Config
envoy.filters.http envoy.filters.http.cdn_loop envoy.extensions.filters.http.cdn_loop.v3.CdnLoopConfig
envoy.filters.http envoy.filters.http.composite envoy.extensions.filters.http.composite.v3.Composite envoy.extensions.filters.http.composite.v3.CompositePerRoute
envoy.filters.http envoy.filters.http.compressor envoy.extensions.filters.http.compressor.v3.Compressor envoy.extensions.filters.http.compressor.v3.CompressorPerRoute
envoy.filters.http envoy.filters.http.connect_grpc_bridge envoy.extensions.filters.http.connect_grpc_bridge.v3.FilterConfig
envoy.filters.http envoy.filters.http.cors envoy.extensions.filters.http.cors.v3.Cors envoy.extensions.filters.http.cors.v3.CorsPolicy
envoy.filters.http envoy.filters.http.credential_injector envoy.extensions.filters.http.credential_injector.v3.CredentialInjector
envoy.filters.http envoy.filters.http.csrf envoy.extensions.filters.http.csrf.v3.CsrfPolicy
envoy.filters.http envoy.filters.http.custom_response envoy.extensions.filters.http.custom_response.v3.CustomResponse
envoy.filters.http envoy.filters.http.decompressor envoy.extensions.filters.http.decompressor.v3.Decompressor
envoy.filters.http envoy.filters.http.dynamic_forward_proxy envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig envoy.extensions.filters.http.dynamic_forward_proxy.v3.PerRouteConfig
envoy.filters.http envoy.filters.http.ext_authz envoy.extensions.filters.http.ext_authz.v3.ExtAuthz envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute
envoy.filters.http envoy.filters.http.ext_proc envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor
envoy.filters.http envoy.filters.http.fault envoy.extensions.filters.http.fault.v3.HTTPFault
envoy.filters.http envoy.filters.http.file_server envoy.extensions.filters.http.file_server.v3.FileServerConfig
envoy.filters.http envoy.filters.http.file_system_buffer envoy.extensions.filters.http.file_system_buffer.v3.FileSystemBufferFilterConfig
envoy.filters.http envoy.filters.http.filter_chain envoy.extensions.filters.http.filter_chain.v3.FilterChainConfig envoy.extensions.filters.http.filter_chain.v3.FilterChainConfigPerRoute
envoy.filters.http envoy.filters.http.gcp_authn envoy.extensions.filters.http.gcp_authn.v3.GcpAuthnFilterConfig
envoy.filters.http envoy.filters.http.geoip envoy.extensions.filters.http.geoip.v3.Geoip
envoy.filters.http envoy.filters.http.grpc_field_extraction envoy.extensions.filters.http.grpc_field_extraction.v3.GrpcFieldExtractionConfig
envoy.filters.http envoy.filters.http.grpc_http1_bridge envoy.extensions.filters.http.grpc_http1_bridge.v3.Config
envoy.filters.http envoy.filters.http.grpc_http1_reverse_bridge envoy.extensions.filters.http.grpc_http1_reverse_bridge.v3.FilterConfig envoy.extensions.filters.http.grpc_http1_reverse_bridge.v3.FilterConfigPerRoute
envoy.filters.http envoy.filters.http.grpc_json_reverse_transcoder envoy.extensions.filters.http.grpc_json_reverse_transcoder.v3.GrpcJsonReverseTranscoder
envoy.filters.http envoy.filters.http.grpc_json_transcoder envoy.extensions.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder
envoy.filters.http envoy.filters.http.grpc_stats envoy.extensions.filters.http.grpc_stats.v3.FilterConfig
envoy.filters.http envoy.filters.http.grpc_web envoy.extensions.filters.http.grpc_web.v3.GrpcWeb
envoy.filters.http envoy.filters.http.header_mutation envoy.extensions.filters.http.header_mutation.v3.HeaderMutation envoy.extensions.filters.http.header_mutation.v3.HeaderMutationPerRoute
envoy.filters.http envoy.filters.http.header_to_metadata envoy.extensions.filters.http.header_to_metadata.v3.Config
envoy.filters.http envoy.filters.http.health_check envoy.extensions.filters.http.health_check.v3.HealthCheck
envoy.filters.http envoy.filters.http.ip_tagging envoy.extensions.filters.http.ip_tagging.v3.IPTagging
envoy.filters.http envoy.filters.http.json_to_metadata envoy.extensions.filters.http.json_to_metadata.v3.JsonToMetadata
envoy.filters.http envoy.filters.http.jwt_authn envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication envoy.extensions.filters.http.jwt_authn.v3.PerRouteConfig
envoy.filters.http envoy.filters.http.local_ratelimit envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit
envoy.filters.http envoy.filters.http.lua envoy.extensions.filters.http.lua.v3.Lua envoy.extensions.filters.http.lua.v3.LuaPerRoute
envoy.filters.http envoy.filters.http.match_delegate envoy.extensions.common.matching.v3.ExtensionWithMatcher envoy.extensions.common.matching.v3.ExtensionWithMatcherPerRoute
envoy.filters.http envoy.filters.http.mcp envoy.extensions.filters.http.mcp.v3.Mcp envoy.extensions.filters.http.mcp.v3.McpOverride
envoy.filters.http envoy.filters.http.mcp_json_rest_bridge envoy.extensions.filters.http.mcp_json_rest_bridge.v3.McpJsonRestBridge envoy.extensions.filters.http.mcp_json_rest_bridge.v3.McpJsonRestBridgePerRoute
envoy.filters.http envoy.filters.http.mcp_router envoy.extensions.filters.http.mcp_router.v3.McpRouter
envoy.filters.http envoy.filters.http.oauth2 envoy.extensions.filters.http.oauth2.v3.OAuth2 envoy.extensions.filters.http.oauth2.v3.OAuth2PerRoute
envoy.filters.http envoy.filters.http.on_demand envoy.extensions.filters.http.on_demand.v3.OnDemand envoy.extensions.filters.http.on_demand.v3.PerRouteConfig
envoy.filters.http envoy.filters.http.original_src envoy.extensions.filters.http.original_src.v3.OriginalSrc
envoy.filters.http envoy.filters.http.proto_api_scrubber envoy.extensions.filters.http.proto_api_scrubber.v3.ProtoApiScrubberConfig
envoy.filters.http envoy.filters.http.proto_message_extraction envoy.extensions.filters.http.proto_message_extraction.v3.ProtoMessageExtractionConfig
envoy.filters.http envoy.filters.http.rate_limit_quota envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaFilterConfig envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaOverride
envoy.filters.http envoy.filters.http.ratelimit envoy.extensions.filters.http.ratelimit.v3.RateLimit envoy.extensions.filters.http.ratelimit.v3.RateLimitPerRoute
envoy.filters.http envoy.filters.http.rbac envoy.extensions.filters.http.rbac.v3.RBAC envoy.extensions.filters.http.rbac.v3.RBACPerRoute
envoy.filters.http envoy.filters.http.router envoy.extensions.filters.http.router.v3.Router
envoy.filters.http envoy.filters.http.set_filter_state envoy.extensions.filters.http.set_filter_state.v3.Config
envoy.filters.http envoy.filters.http.set_metadata envoy.extensions.filters.http.set_metadata.v3.Config
envoy.filters.http envoy.filters.http.sse_to_metadata envoy.extensions.filters.http.sse_to_metadata.v3.SseToMetadata
envoy.filters.http envoy.filters.http.stateful_session envoy.extensions.filters.http.stateful_session.v3.StatefulSession envoy.extensions.filters.http.stateful_session.v3.StatefulSessionPerRoute
envoy.filters.http envoy.filters.http.tap envoy.extensions.filters.http.tap.v3.Tap
envoy.filters.http envoy.filters.http.thrift_to_metadata envoy.extensions.filters.http.thrift_to_metadata.v3.ThriftToMetadata
envoy.filters.http envoy.filters.http.transform envoy.extensions.filters.http.transform.v3.TransformConfig
envoy.filters.http envoy.filters.http.wasm envoy.extensions.filters.http.wasm.v3.Wasm
envoy.filters.http.upstream envoy.extensions.filters.http.dynamic_modules envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilterPerRoute
envoy.filters.http.upstream envoy.filters.http.admission_control envoy.extensions.filters.http.admission_control.v3.AdmissionControl
envoy.filters.http.upstream envoy.filters.http.ai_protocol_manager envoy.extensions.filters.http.ai_protocol_manager.v3.AiProtocolManager envoy.extensions.filters.http.ai_protocol_manager.v3.AiProtocolManagerPerRoute
envoy.filters.http.upstream envoy.filters.http.aws_lambda envoy.extensions.filters.http.aws_lambda.v3.Config envoy.extensions.filters.http.aws_lambda.v3.PerRouteConfig
envoy.filters.http.upstream envoy.filters.http.aws_request_signing envoy.extensions.filters.http.aws_request_signing.v3.AwsRequestSigning envoy.extensions.filters.http.aws_request_signing.v3.AwsRequestSigningPerRoute
envoy.filters.http.upstream envoy.filters.http.body_size_limit envoy.extensions.filters.http.body_size_limit.v3.BodySizeLimit
envoy.filters.http.upstream envoy.filters.http.buffer envoy.extensions.filters.http.buffer.v3.Buffer envoy.extensions.filters.http.buffer.v3.BufferPerRoute
envoy.filters.http.upstream envoy.filters.http.composite envoy.extensions.filters.http.composite.v3.Composite envoy.extensions.filters.http.composite.v3.CompositePerRoute
envoy.filters.http.upstream envoy.filters.http.compressor envoy.extensions.filters.http.compressor.v3.Compressor envoy.extensions.filters.http.compressor.v3.CompressorPerRoute
envoy.filters.http.upstream envoy.filters.http.credential_injector envoy.extensions.filters.http.credential_injector.v3.CredentialInjector
envoy.filters.http.upstream envoy.filters.http.ext_proc envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor
envoy.filters.http.upstream envoy.filters.http.header_mutation envoy.extensions.filters.http.header_mutation.v3.HeaderMutation envoy.extensions.filters.http.header_mutation.v3.HeaderMutationPerRoute
envoy.filters.http.upstream envoy.filters.http.lua envoy.extensions.filters.http.lua.v3.Lua envoy.extensions.filters.http.lua.v3.LuaPerRoute
envoy.filters.http.upstream envoy.filters.http.match_delegate envoy.extensions.common.matching.v3.ExtensionWithMatcher envoy.extensions.common.matching.v3.ExtensionWithMatcherPerRoute
envoy.filters.http.upstream envoy.filters.http.upstream_codec envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec
envoy.filters.http.upstream envoy.filters.http.upstream_rbac envoy.extensions.filters.http.rbac.v3.RBAC
envoy.filters.http.upstream envoy.filters.http.wasm envoy.extensions.filters.http.wasm.v3.Wasm
envoy.filters.listener envoy.filters.listener.dynamic_modules envoy.extensions.filters.listener.dynamic_modules.v3.DynamicModuleListenerFilter
envoy.filters.listener envoy.filters.listener.http_inspector envoy.extensions.filters.listener.http_inspector.v3.HttpInspector
envoy.filters.listener envoy.filters.listener.local_ratelimit envoy.extensions.filters.listener.local_ratelimit.v3.LocalRateLimit
envoy.filters.listener envoy.filters.listener.original_dst envoy.extensions.filters.listener.original_dst.v3.OriginalDst
envoy.filters.listener envoy.filters.listener.original_src envoy.extensions.filters.listener.original_src.v3.OriginalSrc
envoy.filters.listener envoy.filters.listener.proxy_protocol envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol
envoy.filters.listener envoy.filters.listener.set_filter_state envoy.extensions.filters.listener.set_filter_state.v3.Config
envoy.filters.listener envoy.filters.listener.tls_inspector envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector
envoy.filters.network envoy.filters.network.connection_limit envoy.extensions.filters.network.connection_limit.v3.ConnectionLimit
envoy.filters.network envoy.filters.network.direct_response envoy.extensions.filters.network.direct_response.v3.Config
envoy.filters.network envoy.filters.network.dubbo_proxy envoy.extensions.filters.network.dubbo_proxy.v3.DubboProxy
envoy.filters.network envoy.filters.network.dynamic_modules envoy.extensions.filters.network.dynamic_modules.v3.DynamicModuleNetworkFilter
envoy.filters.network envoy.filters.network.echo envoy.extensions.filters.network.echo.v3.Echo
envoy.filters.network envoy.filters.network.ext_authz envoy.extensions.filters.network.ext_authz.v3.ExtAuthz
envoy.filters.network envoy.filters.network.ext_proc envoy.extensions.filters.network.ext_proc.v3.NetworkExternalProcessor
envoy.filters.network envoy.filters.network.generic_proxy envoy.extensions.filters.network.generic_proxy.v3.GenericProxy
envoy.filters.network envoy.filters.network.geoip envoy.extensions.filters.network.geoip.v3.Geoip
envoy.filters.network envoy.filters.network.http_connection_manager envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
envoy.filters.network envoy.filters.network.local_ratelimit envoy.extensions.filters.network.local_ratelimit.v3.LocalRateLimit
envoy.filters.network envoy.filters.network.mongo_proxy envoy.extensions.filters.network.mongo_proxy.v3.MongoProxy
envoy.filters.network envoy.filters.network.ratelimit envoy.extensions.filters.network.ratelimit.v3.RateLimit
envoy.filters.network envoy.filters.network.rbac envoy.extensions.filters.network.rbac.v3.RBAC
envoy.filters.network envoy.filters.network.redis_proxy envoy.extensions.filters.network.redis_proxy.v3.RedisProxy
envoy.filters.network envoy.filters.network.reverse_tunnel envoy.extensions.filters.network.reverse_tunnel.v3.ReverseTunnel
envoy.filters.network envoy.filters.network.reverse_tunnel_drain_aware_http_connection_manager envoy.extensions.filters.network.reverse_tunnel.v3.DrainAwareHttpConnectionManager
envoy.filters.network envoy.filters.network.set_filter_state envoy.extensions.filters.network.set_filter_state.v3.Config
envoy.filters.network envoy.filters.network.sni_cluster envoy.extensions.filters.network.sni_cluster.v3.SniCluster
envoy.filters.network envoy.filters.network.sni_dynamic_forward_proxy envoy.extensions.filters.network.sni_dynamic_forward_proxy.v3.FilterConfig
envoy.filters.network envoy.filters.network.tcp_bandwidth_limit envoy.extensions.filters.network.tcp_bandwidth_limit.v3.TcpBandwidthLimit
envoy.filters.network envoy.filters.network.tcp_proxy envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
envoy.filters.network envoy.filters.network.thrift_proxy envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy
envoy.filters.network envoy.filters.network.wasm envoy.extensions.filters.network.wasm.v3.Wasm
envoy.filters.network envoy.filters.network.zookeeper_proxy envoy.extensions.filters.network.zookeeper_proxy.v3.ZooKeeperProxy
envoy.filters.udp.session envoy.filters.udp.session.dynamic_forward_proxy envoy.extensions.filters.udp.udp_proxy.session.dynamic_forward_proxy.v3.FilterConfig
envoy.filters.udp.session envoy.filters.udp.session.ext_authz envoy.extensions.filters.udp.udp_proxy.session.ext_authz.v3.FilterConfig
envoy.filters.udp.session envoy.filters.udp.session.http_capsule envoy.extensions.filters.udp.udp_proxy.session.http_capsule.v3.FilterConfig
envoy.filters.udp_listener envoy.filters.udp.dns_filter envoy.extensions.filters.udp.dns_filter.v3.DnsFilterConfig
envoy.filters.udp_listener envoy.filters.udp_listener.dynamic_modules envoy.extensions.filters.udp.dynamic_modules.v3.DynamicModuleUdpListenerFilter
envoy.filters.udp_listener envoy.filters.udp_listener.udp_proxy envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig
envoy.formatter envoy.formatter.cel envoy.extensions.formatter.cel.v3.Cel
envoy.formatter envoy.formatter.dynamic_modules envoy.extensions.formatter.dynamic_modules.v3.DynamicModuleFormatter
envoy.formatter envoy.formatter.file_content envoy.extensions.formatter.file_content.v3.FileContent
envoy.formatter envoy.formatter.generic_secret envoy.extensions.formatter.generic_secret.v3.GenericSecret
envoy.formatter envoy.formatter.metadata envoy.extensions.formatter.metadata.v3.Metadata
envoy.formatter envoy.formatter.req_without_query envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery
envoy.generic_proxy.codecs envoy.generic_proxy.codecs.dubbo envoy.extensions.filters.network.generic_proxy.codecs.dubbo.v3.DubboCodecConfig
envoy.generic_proxy.codecs envoy.generic_proxy.codecs.http1 envoy.extensions.filters.network.generic_proxy.codecs.http1.v3.Http1CodecConfig
envoy.generic_proxy.filters envoy.filters.generic.router envoy.extensions.filters.network.generic_proxy.router.v3.Router
envoy.geoip_providers envoy.geoip_providers.maxmind envoy.extensions.geoip_providers.maxmind.v3.MaxMindConfig
envoy.guarddog_actions envoy.watchdog.abort_action envoy.watchdog.v3.AbortActionConfig
envoy.guarddog_actions envoy.watchdog.backtrace_action envoy.extensions.watchdog.backtrace_action.v3.BacktraceActionConfig
envoy.guarddog_actions envoy.watchdog.profile_action envoy.extensions.watchdog.profile_action.v3.ProfileActionConfig
envoy.health_check.event_sinks envoy.health_check.event_sink.file envoy.extensions.health_check.event_sinks.file.v3.HealthCheckEventFileSink
envoy.health_checkers envoy.health_checkers.dynamic_modules envoy.extensions.health_checkers.dynamic_modules.v3.DynamicModuleHealthCheck
envoy.health_checkers envoy.health_checkers.grpc envoy.config.core.v3.HealthCheck.GrpcHealthCheck
envoy.health_checkers envoy.health_checkers.http envoy.config.core.v3.HealthCheck.HttpHealthCheck
envoy.health_checkers envoy.health_checkers.redis envoy.extensions.health_checkers.redis.v3.Redis
envoy.health_checkers envoy.health_checkers.tcp envoy.config.core.v3.HealthCheck.TcpHealthCheck
envoy.health_checkers envoy.health_checkers.thrift envoy.extensions.health_checkers.thrift.v3.Thrift
envoy.health_checkers envoy.health_checkers.udp envoy.extensions.health_checkers.udp.v3.UdpHealthCheck
envoy.http.ai_filters envoy.http.ai_filters.request_info envoy.extensions.http.ai_filters.request_info.v3.RequestInfo
envoy.http.ai_filters envoy.http.ai_filters.schema_validation envoy.extensions.http.ai_filters.schema_validation.v3.SchemaValidation
envoy.http.ai_filters envoy.http.ai_filters.transcoder envoy.extensions.http.ai_filters.transcoder.v3.Transcoder
envoy.http.cache envoy.extensions.http.cache.file_system_http_cache envoy.extensions.http.cache.file_system_http_cache.v3.FileSystemHttpCacheConfig
envoy.http.cache envoy.extensions.http.cache.simple envoy.extensions.http.cache.simple_http_cache.v3.SimpleHttpCacheConfig
envoy.http.cache_v2 envoy.extensions.http.cache_v2.file_system_http_cache envoy.extensions.http.cache_v2.file_system_http_cache.v3.FileSystemHttpCacheV2Config
envoy.http.cache_v2 envoy.extensions.http.cache_v2.simple envoy.extensions.http.cache_v2.simple_http_cache.v3.SimpleHttpCacheV2Config
envoy.http.custom_response envoy.extensions.http.custom_response.local_response_policy envoy.extensions.http.custom_response.local_response_policy.v3.LocalResponsePolicy
envoy.http.custom_response envoy.extensions.http.custom_response.redirect_policy envoy.extensions.http.custom_response.redirect_policy.v3.RedirectPolicy
envoy.http.early_header_mutation envoy.http.early_header_mutation.dynamic_modules envoy.extensions.http.early_header_mutation.dynamic_modules.v3.DynamicModuleEarlyHeaderMutation
envoy.http.early_header_mutation envoy.http.early_header_mutation.header_mutation envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation
envoy.http.ext_proc.processing_request_modifiers envoy.extensions.http.ext_proc.mapped_attribute_builder envoy.extensions.http.ext_proc.processing_request_modifiers.mapped_attribute_builder.v3.MappedAttributeBuilder
envoy.http.ext_proc.response_processors envoy.extensions.http.ext_proc.save_processing_response envoy.extensions.http.ext_proc.response_processors.save_processing_response.v3.SaveProcessingResponse
envoy.http.forward_client_cert_details forward_client_cert envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.ForwardClientCertConfig
envoy.http.header_validators envoy.http.header_validators.envoy_default envoy.extensions.http.header_validators.envoy_default.v3.HeaderValidatorConfig
envoy.http.injected_credentials envoy.http.injected_credentials.generic envoy.extensions.http.injected_credentials.generic.v3.Generic
envoy.http.injected_credentials envoy.http.injected_credentials.oauth2 envoy.extensions.http.injected_credentials.oauth2.v3.OAuth2
envoy.http.original_ip_detection envoy.http.original_ip_detection.custom_header envoy.extensions.http.original_ip_detection.custom_header.v3.CustomHeaderConfig
envoy.http.original_ip_detection envoy.http.original_ip_detection.xff envoy.extensions.http.original_ip_detection.xff.v3.XffConfig
envoy.http.stateful_header_formatters envoy.http.stateful_header_formatters.dynamic_modules envoy.extensions.http.header_formatters.dynamic_modules.v3.DynamicModuleHeaderFormatter
envoy.http.stateful_header_formatters envoy.http.stateful_header_formatters.preserve_case envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig
envoy.http.stateful_session envoy.http.stateful_session.cookie envoy.extensions.http.stateful_session.cookie.v3.CookieBasedSessionState
envoy.http.stateful_session envoy.http.stateful_session.envelope envoy.extensions.http.stateful_session.envelope.v3.EnvelopeSessionState
envoy.http.stateful_session envoy.http.stateful_session.header envoy.extensions.http.stateful_session.header.v3.HeaderBasedSessionState
envoy.internal_redirect_predicates envoy.internal_redirect_predicates.allow_listed_routes envoy.extensions.internal_redirect.allow_listed_routes.v3.AllowListedRoutesConfig
envoy.internal_redirect_predicates envoy.internal_redirect_predicates.filter_state envoy.extensions.internal_redirect.filter_state.v3.FilterStateConfig
envoy.internal_redirect_predicates envoy.internal_redirect_predicates.previous_routes envoy.extensions.internal_redirect.previous_routes.v3.PreviousRoutesConfig
envoy.internal_redirect_predicates envoy.internal_redirect_predicates.safe_cross_scheme envoy.extensions.internal_redirect.safe_cross_scheme.v3.SafeCrossSchemeConfig
envoy.listener_manager_impl envoy.listener_manager_impl.default envoy.config.bootstrap.v3.ListenerManager
envoy.listener_manager_impl envoy.listener_manager_impl.validation envoy.config.bootstrap.v3.ValidationListenerManager
envoy.load_balancing_policies envoy.load_balancing_policies.client_side_weighted_round_robin envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin
envoy.load_balancing_policies envoy.load_balancing_policies.cluster_provided envoy.extensions.load_balancing_policies.cluster_provided.v3.ClusterProvided
envoy.load_balancing_policies envoy.load_balancing_policies.dynamic_modules envoy.extensions.load_balancing_policies.dynamic_modules.v3.DynamicModulesLoadBalancerConfig
envoy.load_balancing_policies envoy.load_balancing_policies.least_request envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest
envoy.load_balancing_policies envoy.load_balancing_policies.load_aware_locality envoy.extensions.load_balancing_policies.load_aware_locality.v3.LoadAwareLocality
envoy.load_balancing_policies envoy.load_balancing_policies.maglev envoy.extensions.load_balancing_policies.maglev.v3.Maglev
envoy.load_balancing_policies envoy.load_balancing_policies.override_host envoy.extensions.load_balancing_policies.override_host.v3.OverrideHost
envoy.load_balancing_policies envoy.load_balancing_policies.random envoy.extensions.load_balancing_policies.random.v3.Random
envoy.load_balancing_policies envoy.load_balancing_policies.ring_hash envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash
envoy.load_balancing_policies envoy.load_balancing_policies.round_robin envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin
envoy.load_balancing_policies envoy.load_balancing_policies.subset envoy.extensions.load_balancing_policies.subset.v3.Subset
envoy.load_balancing_policies envoy.load_balancing_policies.wrr_locality envoy.extensions.load_balancing_policies.wrr_locality.v3.WrrLocality
envoy.matching.action envoy.matching.action.transport_socket.name envoy.extensions.matching.common_inputs.transport_socket.v3.TransportSocketNameAction
envoy.matching.action envoy.matching.actions.format_string envoy.config.core.v3.SubstitutionFormatString
envoy.matching.common_inputs envoy.matching.common_inputs.environment_variable envoy.extensions.matching.common_inputs.environment_variable.v3.Config
envoy.matching.generic_proxy_request_input.input envoy.matching.generic_proxy.input.host envoy.extensions.filters.network.generic_proxy.matcher.v3.HostMatchInput
envoy.matching.generic_proxy_request_input.input envoy.matching.generic_proxy.input.method envoy.extensions.filters.network.generic_proxy.matcher.v3.MethodMatchInput
envoy.matching.generic_proxy_request_input.input envoy.matching.generic_proxy.input.path envoy.extensions.filters.network.generic_proxy.matcher.v3.PathMatchInput
envoy.matching.generic_proxy_request_input.input envoy.matching.generic_proxy.input.property envoy.extensions.filters.network.generic_proxy.matcher.v3.PropertyMatchInput
envoy.matching.generic_proxy_request_input.input envoy.matching.generic_proxy.input.request envoy.extensions.filters.network.generic_proxy.matcher.v3.RequestMatchInput
envoy.matching.generic_proxy_request_input.input envoy.matching.generic_proxy.input.service envoy.extensions.filters.network.generic_proxy.matcher.v3.ServiceMatchInput
envoy.matching.http.input envoy.matching.inputs.destination_ip envoy.extensions.matching.common_inputs.network.v3.DestinationIPInput
envoy.matching.http.input envoy.matching.inputs.destination_port envoy.extensions.matching.common_inputs.network.v3.DestinationPortInput
envoy.matching.http.input envoy.matching.inputs.direct_source_ip envoy.extensions.matching.common_inputs.network.v3.DirectSourceIPInput
envoy.matching.http.input envoy.matching.inputs.dns_san envoy.extensions.matching.common_inputs.ssl.v3.DnsSanInput
envoy.matching.http.input envoy.matching.inputs.dynamic_metadata envoy.extensions.matching.common_inputs.network.v3.DynamicMetadataInput
envoy.matching.http.input envoy.matching.inputs.dynamic_module_data_input envoy.extensions.matching.http.dynamic_modules.v3.HttpDynamicModuleMatchInput
envoy.matching.http.input envoy.matching.inputs.dynamic_module_string_data_input envoy.extensions.matching.http.dynamic_modules.v3.DynamicModuleDataInput
envoy.matching.http.input envoy.matching.inputs.filter_state envoy.extensions.matching.common_inputs.network.v3.FilterStateInput
envoy.matching.http.input envoy.matching.inputs.local_reply envoy.type.matcher.v3.HttpResponseLocalReplyMatchInput
envoy.matching.http.input envoy.matching.inputs.network_namespace envoy.extensions.matching.common_inputs.network.v3.NetworkNamespaceInput
envoy.matching.http.input envoy.matching.inputs.request_headers envoy.type.matcher.v3.HttpRequestHeaderMatchInput
envoy.matching.http.input envoy.matching.inputs.request_trailers envoy.type.matcher.v3.HttpRequestTrailerMatchInput
envoy.matching.http.input envoy.matching.inputs.response_headers envoy.type.matcher.v3.HttpResponseHeaderMatchInput
envoy.matching.http.input envoy.matching.inputs.response_trailers envoy.type.matcher.v3.HttpResponseTrailerMatchInput
envoy.matching.http.input envoy.matching.inputs.server_name envoy.extensions.matching.common_inputs.network.v3.ServerNameInput
envoy.matching.http.input envoy.matching.inputs.source_ip envoy.extensions.matching.common_inputs.network.v3.SourceIPInput
envoy.matching.http.input envoy.matching.inputs.source_port envoy.extensions.matching.common_inputs.network.v3.SourcePortInput
envoy.matching.http.input envoy.matching.inputs.source_type envoy.extensions.matching.common_inputs.network.v3.SourceTypeInput
envoy.matching.http.input envoy.matching.inputs.status_code_class_input envoy.type.matcher.v3.HttpResponseStatusCodeClassMatchInput
envoy.matching.http.input envoy.matching.inputs.status_code_input envoy.type.matcher.v3.HttpResponseStatusCodeMatchInput
envoy.matching.http.input envoy.matching.inputs.subject envoy.extensions.matching.common_inputs.ssl.v3.SubjectInput
envoy.matching.http.input envoy.matching.inputs.uri_san envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput
envoy.matching.http.input query_params envoy.type.matcher.v3.HttpRequestQueryParamMatchInput
envoy.matching.input_matchers envoy.matching.input_matchers.generic_request_matcher envoy.extensions.filters.network.generic_proxy.matcher.v3.RequestMatcher
envoy.matching.input_matchers envoy.matching.matchers.consistent_hashing envoy.extensions.matching.input_matchers.consistent_hashing.v3.ConsistentHashing
envoy.matching.input_matchers envoy.matching.matchers.dynamic_modules envoy.extensions.matching.input_matchers.dynamic_modules.v3.DynamicModuleMatcher
envoy.matching.input_matchers envoy.matching.matchers.ip envoy.extensions.matching.input_matchers.ip.v3.Ip
envoy.matching.input_matchers envoy.matching.matchers.metadata_matcher envoy.extensions.matching.input_matchers.metadata.v3.Metadata
envoy.matching.input_matchers envoy.matching.matchers.runtime_fraction envoy.extensions.matching.input_matchers.runtime_fraction.v3.RuntimeFraction
envoy.matching.network.input envoy.matching.inputs.application_protocol envoy.extensions.matching.common_inputs.network.v3.ApplicationProtocolInput
envoy.matching.network.input envoy.matching.inputs.destination_ip envoy.extensions.matching.common_inputs.network.v3.DestinationIPInput
envoy.matching.network.input envoy.matching.inputs.destination_port envoy.extensions.matching.common_inputs.network.v3.DestinationPortInput
envoy.matching.network.input envoy.matching.inputs.direct_source_ip envoy.extensions.matching.common_inputs.network.v3.DirectSourceIPInput
envoy.matching.network.input envoy.matching.inputs.dns_san envoy.extensions.matching.common_inputs.ssl.v3.DnsSanInput
envoy.matching.network.input envoy.matching.inputs.filter_state envoy.extensions.matching.common_inputs.network.v3.FilterStateInput
envoy.matching.network.input envoy.matching.inputs.network_namespace envoy.extensions.matching.common_inputs.network.v3.NetworkNamespaceInput
envoy.matching.network.input envoy.matching.inputs.server_name envoy.extensions.matching.common_inputs.network.v3.ServerNameInput
envoy.matching.network.input envoy.matching.inputs.source_ip envoy.extensions.matching.common_inputs.network.v3.SourceIPInput
envoy.matching.network.input envoy.matching.inputs.source_port envoy.extensions.matching.common_inputs.network.v3.SourcePortInput
envoy.matching.network.input envoy.matching.inputs.source_type envoy.extensions.matching.common_inputs.network.v3.SourceTypeInput
envoy.matching.network.input envoy.matching.inputs.subject envoy.extensions.matching.common_inputs.ssl.v3.SubjectInput
envoy.matching.network.input envoy.matching.inputs.transport_protocol envoy.extensions.matching.common_inputs.network.v3.TransportProtocolInput
envoy.matching.network.input envoy.matching.inputs.uri_san envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput
envoy.matching.stat_matching_data.input stat_full_name_match_input envoy.extensions.matching.common_inputs.stats.v3.StatFullNameMatchInput
envoy.matching.stat_tag_matching_data.input stat_tag_value_input envoy.extensions.matching.common_inputs.stats.v3.StatTagValueInput
envoy.matching.transport_socket.input envoy.matching.inputs.endpoint_metadata envoy.extensions.matching.common_inputs.transport_socket.v3.EndpointMetadataInput
envoy.matching.transport_socket.input envoy.matching.inputs.locality_metadata envoy.extensions.matching.common_inputs.transport_socket.v3.LocalityMetadataInput
envoy.matching.transport_socket.input envoy.matching.inputs.transport_socket_filter_state envoy.extensions.matching.common_inputs.transport_socket.v3.FilterStateInput
envoy.network.dns_resolver envoy.network.dns_resolver.cares envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig
envoy.network.dns_resolver envoy.network.dns_resolver.getaddrinfo envoy.extensions.network.dns_resolver.getaddrinfo.v3.GetAddrInfoDnsResolverConfig
envoy.network.dns_resolver envoy.network.dns_resolver.hickory envoy.extensions.network.dns_resolver.hickory.v3.HickoryDnsResolverConfig
envoy.path.match envoy.path.match.uri_template.uri_template_matcher envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig
envoy.path.rewrite envoy.path.rewrite.uri_template.uri_template_rewriter envoy.extensions.path.rewrite.uri_template.v3.UriTemplateRewriteConfig
envoy.queue_policy envoy.queue_policy.fifo envoy.extensions.queue_policy.fifo.v3.FifoQueuePolicyConfig
envoy.rate_limit_descriptors envoy.rate_limit_descriptors.expr envoy.extensions.rate_limit_descriptors.expr.v3.Descriptor
envoy.rate_limit_descriptors envoy.rate_limit_descriptors.jwt_claim envoy.extensions.rate_limit_descriptors.jwt_claim.v3.Descriptor
envoy.rbac.matchers envoy.rbac.matchers.upstream_ip_port envoy.extensions.rbac.matchers.upstream_ip_port.v3.UpstreamIpPortMatcher
envoy.rbac.principals envoy.rbac.principals.mtls_authenticated envoy.extensions.rbac.principals.mtls_authenticated.v3.Config
envoy.regex_engines envoy.regex_engines.google_re2 envoy.extensions.regex_engines.v3.GoogleRE2
envoy.request_id envoy.request_id.uuid envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig
envoy.resource_monitors envoy.resource_monitors.cgroup_memory envoy.extensions.resource_monitors.cgroup_memory.v3.CgroupMemoryConfig
envoy.resource_monitors envoy.resource_monitors.cpu_utilization envoy.extensions.resource_monitors.cpu_utilization.v3.CpuUtilizationConfig
envoy.resource_monitors envoy.resource_monitors.fixed_heap envoy.extensions.resource_monitors.fixed_heap.v3.FixedHeapConfig
envoy.resource_monitors envoy.resource_monitors.injected_resource envoy.extensions.resource_monitors.injected_resource.v3.InjectedResourceConfig
envoy.retry_host_predicates envoy.retry_host_predicates.omit_canary_hosts envoy.extensions.retry.host.omit_canary_hosts.v3.OmitCanaryHostsPredicate
envoy.retry_host_predicates envoy.retry_host_predicates.omit_host_metadata envoy.extensions.retry.host.omit_host_metadata.v3.OmitHostMetadataConfig
envoy.retry_host_predicates envoy.retry_host_predicates.previous_hosts envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate
envoy.retry_priorities envoy.retry_priorities.previous_priorities envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig
envoy.route.early_data_policy envoy.route.early_data_policy.default envoy.extensions.early_data.v3.DefaultEarlyDataPolicy
envoy.router.cluster_specifier_plugin envoy.router.cluster_specifier_plugin.dynamic_modules envoy.extensions.router.cluster_specifiers.dynamic_modules.v3.DynamicModuleClusterSpecifier
envoy.router.cluster_specifier_plugin envoy.router.cluster_specifier_plugin.lua envoy.extensions.router.cluster_specifiers.lua.v3.LuaConfig
envoy.router.cluster_specifier_plugin envoy.router.cluster_specifier_plugin.matcher envoy.extensions.router.cluster_specifiers.matcher.v3.MatcherClusterSpecifier
envoy.router.cluster_specifier_plugin envoy.router.cluster_specifier_plugin.priority_group envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier
envoy.router.route_specifiers envoy.router.route_specifiers.dynamic_modules envoy.extensions.router.route_specifiers.dynamic_modules.v3.DynamicModuleRouteSpecifier
envoy.stats_sinks envoy.stat_sinks.dog_statsd envoy.config.metrics.v3.DogStatsdSink
envoy.stats_sinks envoy.stat_sinks.dynamic_modules envoy.extensions.stat_sinks.dynamic_modules.v3.DynamicModuleStatsSink
envoy.stats_sinks envoy.stat_sinks.graphite_statsd envoy.extensions.stat_sinks.graphite_statsd.v3.GraphiteStatsdSink
envoy.stats_sinks envoy.stat_sinks.hystrix envoy.config.metrics.v3.HystrixSink
envoy.stats_sinks envoy.stat_sinks.metrics_service envoy.config.metrics.v3.MetricsServiceConfig
envoy.stats_sinks envoy.stat_sinks.open_telemetry envoy.extensions.stat_sinks.open_telemetry.v3.SinkConfig
envoy.stats_sinks envoy.stat_sinks.statsd envoy.config.metrics.v3.StatsdSink
envoy.stats_sinks envoy.stat_sinks.wasm envoy.extensions.stat_sinks.wasm.v3.Wasm
envoy.string_matcher envoy.string_matcher.lua envoy.extensions.string_matcher.lua.v3.Lua
envoy.thrift_proxy.filters envoy.filters.thrift.header_to_metadata envoy.extensions.filters.network.thrift_proxy.filters.header_to_metadata.v3.HeaderToMetadata
envoy.thrift_proxy.filters envoy.filters.thrift.payload_to_metadata envoy.extensions.filters.network.thrift_proxy.filters.payload_to_metadata.v3.PayloadToMetadata
envoy.thrift_proxy.filters envoy.filters.thrift.rate_limit envoy.extensions.filters.network.thrift_proxy.filters.ratelimit.v3.RateLimit
envoy.thrift_proxy.filters envoy.filters.thrift.router envoy.extensions.filters.network.thrift_proxy.router.v3.Router
envoy.tls.certificate_mappers envoy.tls.certificate_mappers.sni envoy.extensions.transport_sockets.tls.cert_mappers.sni.v3.SNI
envoy.tls.certificate_mappers envoy.tls.certificate_mappers.static_name envoy.extensions.transport_sockets.tls.cert_mappers.static_name.v3.StaticName
envoy.tls.certificate_selectors envoy.tls.certificate_selectors.on_demand_secret envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config
envoy.tls.upstream_certificate_mappers envoy.tls.certificate_mappers.static_name envoy.extensions.transport_sockets.tls.cert_mappers.static_name.v3.StaticName
envoy.tls.upstream_certificate_mappers envoy.tls.upstream_certificate_mappers.filter_state_override envoy.extensions.transport_sockets.tls.cert_mappers.filter_state_override.v3.Config
envoy.tls.upstream_certificate_selectors envoy.tls.certificate_selectors.on_demand_secret envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config
envoy.tls_handshakers envoy.tls.handshakers.dynamic_modules envoy.extensions.transport_sockets.tls.handshakers.dynamic_modules.v3.DynamicModuleTlsHandshaker
envoy.tracers envoy.tracers.datadog envoy.config.trace.v3.DatadogConfig
envoy.tracers envoy.tracers.dynamic_modules envoy.extensions.tracers.dynamic_modules.v3.DynamicModuleTracer
envoy.tracers envoy.tracers.fluentd envoy.extensions.tracers.fluentd.v3.FluentdConfig
envoy.tracers envoy.tracers.opentelemetry envoy.config.trace.v3.OpenTelemetryConfig
envoy.tracers envoy.tracers.skywalking envoy.config.trace.v3.SkyWalkingConfig
envoy.tracers envoy.tracers.xray envoy.config.trace.v3.XRayConfig
envoy.tracers envoy.tracers.zipkin envoy.config.trace.v3.ZipkinConfig
envoy.tracers.opentelemetry.resource_detectors envoy.tracers.opentelemetry.resource_detectors.dynatrace envoy.extensions.tracers.opentelemetry.resource_detectors.v3.DynatraceResourceDetectorConfig
envoy.tracers.opentelemetry.resource_detectors envoy.tracers.opentelemetry.resource_detectors.environment envoy.extensions.tracers.opentelemetry.resource_detectors.v3.EnvironmentResourceDetectorConfig
envoy.tracers.opentelemetry.resource_detectors envoy.tracers.opentelemetry.resource_detectors.static_config envoy.extensions.tracers.opentelemetry.resource_detectors.v3.StaticConfigResourceDetectorConfig
envoy.tracers.opentelemetry.samplers envoy.tracers.opentelemetry.samplers.always_on envoy.extensions.tracers.opentelemetry.samplers.v3.AlwaysOnSamplerConfig
envoy.tracers.opentelemetry.samplers envoy.tracers.opentelemetry.samplers.cel envoy.extensions.tracers.opentelemetry.samplers.v3.CELSamplerConfig
envoy.tracers.opentelemetry.samplers envoy.tracers.opentelemetry.samplers.dynatrace envoy.extensions.tracers.opentelemetry.samplers.v3.DynatraceSamplerConfig
envoy.tracers.opentelemetry.samplers envoy.tracers.opentelemetry.samplers.parent_based envoy.extensions.tracers.opentelemetry.samplers.v3.ParentBasedSamplerConfig
envoy.tracers.opentelemetry.samplers envoy.tracers.opentelemetry.samplers.trace_id_ratio_based envoy.extensions.tracers.opentelemetry.samplers.v3.TraceIdRatioBasedSamplerConfig
envoy.transport_sockets.downstream envoy.transport_sockets.alts envoy.extensions.transport_sockets.alts.v3.Alts
envoy.transport_sockets.downstream envoy.transport_sockets.dynamic_modules envoy.extensions.transport_sockets.dynamic_modules.v3.DynamicModuleTransportSocket
envoy.transport_sockets.downstream envoy.transport_sockets.quic envoy.extensions.transport_sockets.quic.v3.QuicDownstreamTransport
envoy.transport_sockets.downstream envoy.transport_sockets.raw_buffer envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer
envoy.transport_sockets.downstream envoy.transport_sockets.starttls envoy.extensions.transport_sockets.starttls.v3.StartTlsConfig
envoy.transport_sockets.downstream envoy.transport_sockets.tap envoy.extensions.transport_sockets.tap.v3.Tap
envoy.transport_sockets.downstream envoy.transport_sockets.tcp_stats envoy.extensions.transport_sockets.tcp_stats.v3.Config
envoy.transport_sockets.downstream envoy.transport_sockets.tls envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
envoy.transport_sockets.upstream envoy.transport_sockets.alts envoy.extensions.transport_sockets.alts.v3.Alts
envoy.transport_sockets.upstream envoy.transport_sockets.dynamic_modules envoy.extensions.transport_sockets.dynamic_modules.v3.DynamicModuleTransportSocket
envoy.transport_sockets.upstream envoy.transport_sockets.http_11_proxy envoy.extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport
envoy.transport_sockets.upstream envoy.transport_sockets.internal_upstream envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport
envoy.transport_sockets.upstream envoy.transport_sockets.quic envoy.extensions.transport_sockets.quic.v3.QuicUpstreamTransport
envoy.transport_sockets.upstream envoy.transport_sockets.raw_buffer envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer
envoy.transport_sockets.upstream envoy.transport_sockets.starttls envoy.extensions.transport_sockets.starttls.v3.UpstreamStartTlsConfig
envoy.transport_sockets.upstream envoy.transport_sockets.tap envoy.extensions.transport_sockets.tap.v3.Tap
envoy.transport_sockets.upstream envoy.transport_sockets.tcp_stats envoy.extensions.transport_sockets.tcp_stats.v3.Config
envoy.transport_sockets.upstream envoy.transport_sockets.tls envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
envoy.transport_sockets.upstream envoy.transport_sockets.upstream_proxy_protocol envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport
envoy.udp_packet_writer envoy.udp_packet_writer.default envoy.extensions.udp_packet_writer.v3.UdpDefaultWriterFactory
envoy.udp_packet_writer envoy.udp_packet_writer.gso envoy.extensions.udp_packet_writer.v3.UdpGsoBatchWriterFactory
envoy.upstream.local_address_selector envoy.upstream.local_address_selector.default_local_address_selector envoy.config.upstream.local_address_selector.v3.DefaultLocalAddressSelector
envoy.upstream.local_address_selector envoy.upstream.local_address_selector.filter_state_override envoy.extensions.local_address_selectors.filter_state_override.v3.Config
envoy.upstream_options envoy.extensions.upstreams.http.reverse_tunnel.v3.ReverseTunnelUpstreamCodecOptions envoy.extensions.upstreams.http.reverse_tunnel.v3.ReverseTunnelUpstreamCodecOptions
envoy.upstream_options envoy.extensions.upstreams.http.v3.HttpProtocolOptions envoy.extensions.upstreams.http.v3.HttpProtocolOptions
envoy.upstream_options envoy.extensions.upstreams.tcp.v3.TcpProtocolOptions envoy.extensions.upstreams.tcp.v3.TcpProtocolOptions
envoy.upstreams envoy.filters.connection_pools.tcp.generic envoy.extensions.upstreams.tcp.generic.v3.GenericConnectionPoolProto
`;
