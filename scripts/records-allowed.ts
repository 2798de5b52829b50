/**
 * Where plain objects keyed by text may stay, with the reason and how many places of a file it is
 * for.
 */

type Places = Readonly<Record<string, number>>;

const BY_REASON: readonly (readonly [reason: string, places: Places])[] = [
  [
    'objects without a prototype, made here',
    {
      'shared/text/dictionary.ts': 2,
    },
  ],
  [
    'descriptors, read through api-catalog.ts and message-types.ts with Object.hasOwn',
    {
      'shared/api/descriptor.ts': 5,
    },
  ],
  [
    'messages, whose members are read by the field names of the API',
    {
      'shared/api/well-known.ts': 3,
      'supervisor/admin/config-dump/redact.ts': 2,
      'supervisor/admin/print-defaults.ts': 2,
      'supervisor/resources/fields.ts': 1,
      'supervisor/upstreams/sources/same-host.ts': 1,
      'supervisor/validation/named-files.ts': 2,
      'supervisor/xds/kinds/secret-files.ts': 2,
    },
  ],
  [
    'what modules of the operator name: their members are asked for with Object.hasOwn or listed',
    {
      'shared/scripts/access-logger.ts': 2,
      'shared/scripts/balancer.ts': 2,
      'shared/scripts/network-filter.ts': 2,
      'shared/scripts/admin-pages.ts': 2,
      'shared/scripts/cluster-discovery.ts': 3,
      'shared/scripts/context.ts': 1,
      'shared/scripts/filter.ts': 2,
      'shared/scripts/run-module.ts': 1,
      'shared/scripts/schema.ts': 3,
      'src/testing/testing-api.ts': 3,
      'workers/filters/http/script/script-half.ts': 1,
    },
  ],
  [
    'a file of the package itself',
    {
      'shared/process/build-stamp.ts': 2,
    },
  ],
  [
    'a table that is read with single characters, which no inherited member is named by',
    {
      'shared/json/quote-json.ts': 1,
      'shared/logging/escape.ts': 1,
      'shared/logging/line-format.ts': 2,
      'shared/logging/time-flags.ts': 3,
      'shared/substitution/strftime.ts': 1,
      'shared/text/text-format-escapes.ts': 1,
      'workers/routing/timeouts.ts': 1,
    },
  ],
  [
    'a table whose reader asks Object.hasOwn first, or checks the name against a list',
    {
      'shared/logging/log-settings.ts': 1,
      'shared/substitution/commands.ts': 1,
      'supervisor/config/api/api-catalog.ts': 1,
      'supervisor/config/validate/api-status.ts': 2,
      'supervisor/xds/decode-environment.ts': 1,
    },
  ],
  [
    'an object that is only written out with its own members, never looked up in',
    {
      'shared/logging/logger.ts': 1,
      'shared/resources/grpc-target.ts': 1,
      'src/options/command-line-report.ts': 2,
      'supervisor/admin/views/config-view.ts': 1,
      'supervisor/admin/views/endpoint-message.ts': 2,
      'supervisor/services/node-message.ts': 2,
      'supervisor/admin/config-dump/dump-elements.ts': 2,
      'supervisor/admin/endpoints/clusters-json.ts': 3,
      'supervisor/admin/json-printer.ts': 3,
      'supervisor/resources/grpc-service.ts': 3,
      'supervisor/resolved/resource-locator.ts': 4,
      'supervisor/xds/subscriptions/delta-mux.ts': 2,
      'supervisor/xds/subscriptions/discovery-request.ts': 1,
      'supervisor/xds/subscriptions/grpc-mux.ts': 1,
      'supervisor/xds/subscriptions/stream-mux.ts': 1,
      'supervisor/services/grpc-connections.ts': 2,
      'supervisor/services/rest-client.ts': 1,
    },
  ],
  [
    'a table that is read with names that are written in the code or come from the runtime',
    {
      'shared/posix/layout.ts': 1,
      'shared/resources/clusters/host-health.ts': 1,
      'shared/tls/peer-check.ts': 2,
      'shared/tls/tls-errors.ts': 3,
      'supervisor/dns/name-resolver.ts': 2,
      'supervisor/health/outlier-runtime.ts': 1,
      'supervisor/overload/overload-manager.ts': 1,
      'supervisor/xds/subscriptions/discovery-stats.ts': 1,
      'supervisor/services/control-stream.ts': 1,
      'workers/access-log/loggers/grpc/log-entry-common.ts': 1,
      'workers/http1/serialise.ts': 1,
      'workers/net/connection-errors.ts': 1,
    },
  ],
  [
    'a type that lets TypeScript check a table, whose own keys are its type',
    {
      'shared/stats/template.ts': 2,
      'supervisor/http-pages/params.ts': 2,
      'src/options/option-table.ts': 1,
      'supervisor/hot-restart/hot-restart-codec.ts': 1,
      'supervisor/store/resource-store.ts': 1,
      'workers/http1/parse-errors.ts': 1,
    },
  ],
  [
    'headers that node gives or takes; they are read by names in the code or with Object.hasOwn',
    {
      'supervisor/admin/access-log/admin-log-format.ts': 1,
      'supervisor/http-pages/admin-response.ts': 1,
      'supervisor/admin/admin-router.ts': 1,
      'supervisor/admin/describe-exchange.ts': 1,
      'supervisor/admin/http/exchange.ts': 1,
      'supervisor/admin/http/http2-exchange.ts': 2,
    },
  ],
  [
    'objects without a prototype, made here, and copies by the field names of messages',
    {
      'supervisor/admin/config-dump/field-mask.ts': 1,
    },
  ],
  [
    'messages, whose members are read by the field names of the API; setKey makes every key an own member',
    {
      'supervisor/config/convert/message-object.ts': 1,
    },
  ],
  [
    'descriptors of the API as protobufjs takes them',
    {
      'supervisor/config/convert/protobuf-root.ts': 7,
    },
  ],
  [
    'walks along paths that were read off the same message',
    {
      'supervisor/config/message-pieces.ts': 1,
      'supervisor/xds/subscriptions/decode-response.ts': 1,
    },
  ],
  [
    'a table that is read with the names of an enum, which the decoder has checked',
    {
      'supervisor/resources/bootstrap/least-timeouts.ts': 1,
      'supervisor/resources/routes/cluster-action.ts': 1,
      'supervisor/resources/routes/redirect.ts': 1,
      'supervisor/resources/tls/tls-parameters.ts': 1,
    },
  ],
  [
    'bindings of the runtime',
    {
      'workers/net/runtime-handles.ts': 2,
      'workers/net/tls/runtime-tls.ts': 1,
    },
  ],
  [
    'a type that lets TypeScript check a table, whose own keys are its type; commands are checked by the parser',
    {
      'workers/substitution/address-readers.ts': 1,
      'workers/substitution/http-readers.ts': 1,
      'workers/substitution/metadata-readers.ts': 1,
      'workers/substitution/size-readers.ts': 1,
      'workers/substitution/timing-readers.ts': 1,
      'workers/substitution/tls-readers.ts': 1,
    },
  ],
  [
    'the functions that scripts are given, under names that stand in the code; scripts see them through tables and Maps',
    {
      'shared/lua/lib/base-library.ts': 1,
      'shared/lua/lib/coroutine-library.ts': 1,
      'shared/lua/lib/dates.ts': 1,
      'shared/lua/lib/open-libraries.ts': 6,
      'shared/lua/lib/small-libraries.ts': 6,
      'shared/lua/lib/string-library.ts': 1,
      'shared/lua/lib/table-library.ts': 1,
      'shared/lua/script-machine.ts': 1,
      'shared/lua/stream-globals.ts': 1,
      'workers/filters/http/lua/stats-object.ts': 1,
      'workers/filters/http/lua/stream-object.ts': 2,
    },
  ],
];

export const RECORDS_ALLOWED: ReadonlyMap<string, readonly [reason: string, count: number]> =
  new Map(
    BY_REASON.flatMap(([reason, places]) =>
      Object.entries(places).map(([file, count]) => [file, [reason, count]] as const),
    ),
  );
