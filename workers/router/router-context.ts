/** What one router is given when its connection manager is compiled, shared by all its requests. */
import type { OverloadGate } from '../loop/overload-gate.ts';
import type { HeaderOptions } from './envoy-headers.ts';
import type { ExchangeContext } from './exchange/exchange-seam.ts';
import type { MirrorContext } from './mirror/request-mirror.ts';

export interface RouterContext extends HeaderOptions, ExchangeContext {
  readonly proxy100Continue: boolean;
  /** The scheme that hosts are told is that of the connection to them. */
  readonly schemeMatchesUpstream: boolean;
  readonly strictHeaders: readonly string[];
  readonly overload: OverloadGate;
  readonly mirrors: MirrorContext;
}
