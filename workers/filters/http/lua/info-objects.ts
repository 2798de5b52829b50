/** What scripts may ask of a stream, its connection, route and virtual host. */
import {
  type HostFunction,
  type LuaValue,
  NO_VALUES,
  type Results,
} from '../../../../shared/lua/values.ts';
import { dictionary, type Struct } from '../../../../shared/text/dictionary.ts';
import { FilterState } from '../../../net/filter-state.ts';
import { filterStateOf, type StreamInfo } from '../../../stream/stream-info.ts';
import type { TlsInfo } from '../../../net/connection-info.ts';
import { fromScript, toScript } from './script-values.ts';
import { type MethodMaker, type Methods, type Scope, StreamObject } from './stream-object.ts';
import { TlsObject } from './tls-object.ts';

/** Keys of one stream's metadata or filter state. */
const KEYS_MAX = 1000;

/** Metadata of configuration: read only. */
export class MetadataObject extends StreamObject {
  readonly values: Struct;

  constructor(methods: Methods, scope: Scope, values: Struct | undefined) {
    super(methods, scope);
    this.values = values ?? dictionary();
  }

  override iterate(): HostFunction {
    return iterator(Object.entries(this.values));
  }
}

class DynamicMetadataObject extends StreamObject {
  readonly info: { dynamicMetadata?: Map<string, Struct> | undefined };

  constructor(methods: Methods, scope: Scope, info: DynamicMetadataObject['info']) {
    super(methods, scope);
    this.info = info;
  }

  override iterate(): HostFunction {
    return iterator([...(this.info.dynamicMetadata ?? [])]);
  }
}

class FilterStateObject extends StreamObject {
  readonly info: StreamInfo;

  constructor(methods: Methods, scope: Scope, info: StreamInfo) {
    super(methods, scope);
    this.info = info;
  }
}

export class StreamInfoObject extends FilterStateObject {
  /** The connection ends when this response has been sent. */
  readonly drain: () => void;

  constructor(
    methods: Methods,
    scope: Scope,
    { info, drain }: { info: StreamInfo; drain: () => void },
  ) {
    super(methods, scope, info);
    this.drain = drain;
  }
}

export class ConnectionStreamInfoObject extends FilterStateObject {}
export class ConnectionObject extends FilterStateObject {}

function iterator(entries: readonly (readonly [string, unknown])[]): HostFunction {
  let at = 0;
  return () => {
    const entry = entries[at++];
    return entry === undefined ? undefined : [toScript(entry[0]), toScript(entry[1])];
  };
}

/** The factories of filter state objects whose values are texts. */
const TEXT_FACTORIES = new Set([
  'envoy.string',
  'envoy.hashable_string',
  'envoy.tcp_proxy.cluster',
  'envoy.network.upstream_server_name',
  'envoy.upstream.dynamic_host',
  'envoy.upstream.dynamic_port',
  'envoy.network.application_protocols',
  'envoy.network.upstream_subject_alt_names',
]);

export interface InfoMethods {
  readonly metadata: Methods;
  readonly streamInfo: Methods;
  readonly connectionStreamInfo: Methods;
  readonly connection: Methods;
}

export function infoMethods(maker: MethodMaker, tls: Methods): InfoMethods {
  const { check, state } = maker;
  const text = (args: readonly LuaValue[], at: number): string =>
    Buffer.from(check.text(args, at), 'latin1').toString();
  const metadata = maker.methods<MetadataObject>(MetadataObject, {
    get: ({ values }, args) => given(toScript(values[text(args, 1)])),
  });
  const dynamicMetadata = maker.methods<DynamicMetadataObject>(DynamicMetadataObject, {
    get: ({ info }, args) => given(toScript(info.dynamicMetadata?.get(text(args, 1)))),
    set: ({ info }, args) => {
      const [namespace, key] = [text(args, 1), text(args, 2)];
      const value = fromScript(state, args[3]);
      const all = (info.dynamicMetadata ??= new Map<string, Struct>());
      const known = Object.entries(all.get(namespace) ?? {});
      if (all.size + known.length > KEYS_MAX) throw state.hostFailure('too much metadata');
      all.set(namespace, dictionary([...known, [key, value]]));
      return NO_VALUES;
    },
  });
  const filterState = maker.methods<FilterStateObject>(FilterStateObject, {
    get: ({ info }, args) => given(scriptText(filterStateOf(info, text(args, 1)))),
    set: ({ info }, args) => {
      const [key, factory, value] = [text(args, 1), text(args, 2), text(args, 3)];
      if (!TEXT_FACTORIES.has(factory)) {
        throw state.hostFailure(`'${factory}' does not have an object factory`);
      }
      const kept = (info.filterState ??= new FilterState());
      if (kept.size > KEYS_MAX) throw state.hostFailure('too much filter state');
      kept.keep(key, value, factory === 'envoy.hashable_string');
      return NO_VALUES;
    },
  });
  const dynamic = (
    self: FilterStateObject,
    info: DynamicMetadataObject['info'],
  ): DynamicMetadataObject => new DynamicMetadataObject(dynamicMetadata, self.scope, info);
  const sslOf = (self: FilterStateObject, info: TlsInfo | undefined): Results =>
    info === undefined ? undefined : new TlsObject(tls, self.scope, info);
  return {
    metadata,
    streamInfo: maker.methods<StreamInfoObject>(StreamInfoObject, {
      protocol: ({ info }) => info.protocol ?? '',
      routeName: ({ info }) => info.routeName,
      virtualClusterName: ({ info }) => info.virtualClusterName,
      requestedServerName: ({ info }) => info.connection.requestedServerName,
      downstreamLocalAddress: ({ info }) => info.connection.localAddress.text,
      downstreamDirectLocalAddress: ({ info }) => info.connection.localAddress.text,
      downstreamRemoteAddress: ({ info }) => info.downstreamRemoteAddress.text,
      downstreamDirectRemoteAddress: ({ info }) => info.connection.directRemoteAddress.text,
      downstreamSslConnection: (self) => sslOf(self, self.info.connection.tls),
      dynamicMetadata: (self) => dynamic(self, self.info),
      dynamicTypedMetadata: (_self, args) => {
        check.text(args, 1);
        return undefined;
      },
      filterState: (self) => new FilterStateObject(filterState, self.scope, self.info),
      drainConnectionUponCompletion: ({ drain }) => {
        drain();
        return NO_VALUES;
      },
    }),
    ...connectionMethods(maker, { dynamic, sslOf }),
  };
}

interface Made {
  dynamic(self: FilterStateObject, info: DynamicMetadataObject['info']): DynamicMetadataObject;
  sslOf(self: FilterStateObject, info: TlsInfo | undefined): Results;
}

function connectionMethods(
  maker: MethodMaker,
  made: Made,
): Pick<InfoMethods, 'connectionStreamInfo' | 'connection'> {
  return {
    connectionStreamInfo: maker.methods<ConnectionStreamInfoObject>(ConnectionStreamInfoObject, {
      dynamicMetadata: (self) => made.dynamic(self, self.info.connection),
      dynamicTypedMetadata: (_self, args) => {
        maker.check.text(args, 1);
        return undefined;
      },
    }),
    connection: maker.methods<ConnectionObject>(ConnectionObject, {
      ssl: (self) => made.sslOf(self, self.info.connection.tls),
    }),
  };
}

function given(value: LuaValue): Results {
  return value === undefined ? NO_VALUES : value;
}

function scriptText(value: string | undefined): string | undefined {
  return value === undefined ? undefined : Buffer.from(value).toString('latin1');
}
