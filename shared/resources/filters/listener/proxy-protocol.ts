/** Settings of proxy_protocol: the header that a load balancer puts before a connection's bytes. */
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';
import type { TlvChoice } from '../../clusters/proxy-protocol.ts';
import { declareKind } from '../declare-filter.ts';
import type { ListenerFilterResource } from '../listener-filter.ts';

/**
 * Prefix: `proxy_proto.`, or `proxy_proto.<stat_prefix>.` The filter's older counter of connections
 * closed for an invalid header has no prefix: it is defined by name,
 * `downstream_cx_proxy_proto_error`.
 */
export const PROXY_PROTOCOL = defineTemplate('proxy_protocol', {
  not_found_allowed: counter('Connections without the header, allowed'),
  not_found_disallowed: counter('Connections without the header, refused'),
  'versions.v1.disallowed': counter('Headers of version 1 refused by configuration'),
  'versions.v1.error': counter('Invalid headers of version 1'),
  'versions.v1.found': counter('Headers of version 1'),
  'versions.v2.disallowed': counter('Headers of version 2 refused by configuration'),
  'versions.v2.error': counter('Invalid headers of version 2'),
  'versions.v2.found': counter('Headers of version 2'),
});

export interface ProxyProtocolFilter extends ListenerFilterResource<'proxy_protocol'> {
  readonly allowsWithout: boolean;
  readonly disallowedVersions: readonly ('v1' | 'v2')[];
  readonly statPrefix: string;
  /** Which additions of version 2 become metadata of the connection. */
  readonly rules: readonly TlvRule[];
  /** Which of them may go on to hosts; absent: none. */
  readonly passedOn?: TlvChoice;
}

interface TlvRule {
  readonly type: number;
  readonly namespace: string;
  readonly key: string;
  readonly encoding: 'utf8' | 'base64';
}

export const PROXY_PROTOCOL_DECLARATION = declareKind<ProxyProtocolFilter>(PROXY_PROTOCOL);
