/**
 * Resolves this side of connections to a cluster's hosts: the address that they come from and the
 * options of their sockets, for hosts of either address family.
 */
import type {
  BindConfig,
  ExtraSourceAddress,
  TcpKeepalive,
} from '../../../shared/api/generated/envoy/config/core/v3/address.ts';
import type { LocalSocket } from '../../../shared/resources/clusters/cluster.ts';
import type { BoundAddress } from '../../../shared/resources/listener.ts';
import { resolveSocketAddress } from '../addresses.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { addressOptions, resolveSocketOptions } from '../socket-options.ts';

const FIELDS = knownFields<BindConfig>([
  'source_address',
  'freebind',
  'socket_options',
  'extra_source_addresses',
  'additional_source_addresses',
  'local_address_selector',
]);
const EXTRA_FIELDS = knownFields<ExtraSourceAddress>(['address', 'socket_options']);

export const ADDRESS_SELECTORS = new ExtensionRegistry<true>(
  'envoy.upstream.local_address_selector',
  'local address selector',
  [
    extension(
      'envoy.upstream.local_address_selector.default_local_address_selector',
      'envoy.config.upstream.local_address_selector.v3.DefaultLocalAddressSelector',
      () => true,
    ),
  ],
);

type IpAddress = Extract<BoundAddress, { readonly kind: 'ip' }>;
type OptionMessages = NonNullable<BindConfig['socket_options']>;

interface Source {
  readonly address: IpAddress;
  /** Undefined: those of the whole configuration. */
  readonly options: OptionMessages | undefined;
  readonly place: Scope;
}

const ANY: Readonly<Record<'v4' | 'v6', IpAddress>> = {
  v4: { kind: 'ip', family: 'v4', address: '0.0.0.0', port: 0 },
  v6: { kind: 'ip', family: 'v6', address: '::', port: 0 },
};

/** Undefined: sockets are as the system has them. */
export function resolveLocalSockets(
  bind: BindConfig | undefined,
  keepalive: TcpKeepalive | undefined,
  scope: Scope,
): Readonly<Record<'v4' | 'v6', LocalSocket>> | undefined {
  if (bind === undefined && keepalive === undefined) return undefined;
  const message = bind ?? {};
  refuseOtherFields(message, FIELDS, scope);
  if (message.local_address_selector !== undefined) {
    ADDRESS_SELECTORS.resolve(message.local_address_selector, scope.at('local_address_selector'));
  }
  const sources = resolveSources(message, scope);
  const of = (family: 'v4' | 'v6'): LocalSocket => {
    const source = sources.find(({ address }) => address.family === family) ?? sources[0];
    return resolveSocket(family, source, { message, keepalive, scope });
  };
  const sockets = { v4: of('v4'), v6: of('v6') };
  const isPlain = Object.values(sockets).every(
    ({ source, options }) => source === undefined && options.length === 0,
  );
  return isPlain ? undefined : sockets;
}

/** The first one of the host's family counts, else the first. */
function resolveSources(message: BindConfig, scope: Scope): readonly Source[] {
  const {
    source_address: own,
    extra_source_addresses: extra = [],
    additional_source_addresses: additional = [],
  } = message;
  if (extra.length > 0 && additional.length > 0) {
    scope.error(
      'conflict',
      "Can't specify both `extra_source_addresses` and `additional_source_addresses`",
    );
  }
  const all = [
    { address: own, options: undefined, place: scope.at('source_address') },
    ...extra.map((each, index) => {
      const place = scope.at('extra_source_addresses', index);
      refuseOtherFields(each, EXTRA_FIELDS, place);
      return { address: each.address, options: each.socket_options?.socket_options, place };
    }),
    ...additional.map((address, index) => ({
      address,
      options: undefined,
      place: scope.at('additional_source_addresses', index),
    })),
  ];
  return all.flatMap(({ address, options, place }) => {
    const resolved = address && resolveSocketAddress(address, place);
    return resolved?.address.kind === 'ip' ? [{ address: resolved.address, options, place }] : [];
  });
}

function resolveSocket(
  family: 'v4' | 'v6',
  source: Source | undefined,
  parts: {
    readonly message: BindConfig;
    readonly keepalive: TcpKeepalive | undefined;
    readonly scope: Scope;
  },
): LocalSocket {
  const { message, keepalive, scope } = parts;
  const address = source?.address ?? ANY[family];
  const options = [
    ...addressOptions({ freebind: message.freebind, keepalive }, address, scope),
    ...resolveSocketOptions(
      source?.options ?? message.socket_options ?? [],
      address,
      (source?.options === undefined ? scope : source.place).at('socket_options'),
    ),
  ];
  if (source === undefined) return { options };
  return { source: { address: address.address, port: address.port }, options };
}
