/** The requests by which a proxy of datagrams asks hosts, which are proxies too, for tunnels. */
import type { UdpTunneling } from '../../shared/resources/udp-listener.ts';
import { compileHeaderMutations, type HeaderMutation } from '../routing/header-mutations.ts';
import { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { compileTextFormat, type Formatter } from '../substitution/compile-format.ts';

export class TunnelRequests {
  readonly tunnel: UdpTunneling;
  readonly #proxyHost: Formatter;
  readonly #targetHost: Formatter;
  readonly #addHeaders: HeaderMutation | undefined;

  constructor(tunnel: UdpTunneling) {
    this.tunnel = tunnel;
    this.#proxyHost = compileTextFormat(tunnel.proxyHost, { omitEmptyValues: false });
    this.#targetHost = compileTextFormat(tunnel.targetHost, { omitEmptyValues: false });
    this.#addHeaders = compileHeaderMutations(
      [{ add: tunnel.headersToAdd, remove: [] }],
      new Set(),
    );
  }

  /** A CONNECT-UDP has the form of an upgrade here, which codecs put into that of their protocol. */
  make(info: StreamInfo, isSecure: boolean): HeaderMap {
    const { postPath, proxyPort, targetPort } = this.tunnel;
    const headers = new HeaderMap();
    const port = proxyPort === undefined ? '' : `:${proxyPort}`;
    headers.scheme = isSecure ? 'https' : 'http';
    headers.authority = `${this.#proxyHost(info)}${port}`;
    if (postPath === undefined) {
      const target = encodeURIComponent(this.#targetHost(info));
      headers.method = 'GET';
      headers.path = `/.well-known/masque/udp/${target}/${targetPort}/`;
      headers.set('connection', 'Upgrade');
      headers.set('upgrade', 'connect-udp');
      headers.set('capsule-protocol', '?1');
    } else {
      headers.method = 'POST';
      headers.path = postPath;
    }
    this.#addHeaders?.(headers, info);
    return headers;
  }

  /** Milliseconds before the next attempt; undefined: at once. */
  backOffMs(failedAttempts: number): number | undefined {
    const { retryBackOff: grows } = this.tunnel;
    if (grows === undefined) return undefined;
    const ceilingMs = Math.min(grows.maxMs, grows.baseMs * (2 ** failedAttempts - 1));
    return Math.max(1, Math.round(Math.random() * ceilingMs));
  }
}
