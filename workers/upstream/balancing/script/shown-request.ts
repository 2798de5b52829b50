/** A request as modules that balance see it. */
import type { BalancedHost, BalancedRequest } from '../../../../shared/scripts/balancer.ts';
import { metadataValue } from '../../../matching/metadata-value.ts';
import { ReadHeaders } from '../../../stream/read-headers.ts';
import type { BalanceContext } from '../load-balancer.ts';
import { ShownHost } from './shown-host.ts';

export class ShownRequest implements BalancedRequest {
  readonly draw: number;
  readonly #context: BalanceContext;

  constructor(context: BalanceContext, draw: number) {
    this.#context = context;
    this.draw = draw;
  }

  get method(): string {
    return this.#context.requestHeaders.method;
  }

  get path(): string {
    return this.#context.requestHeaders.path;
  }

  get authority(): string {
    return this.#context.requestHeaders.authority;
  }

  get headers(): BalancedRequest['headers'] {
    return new ReadHeaders(this.#context.requestHeaders);
  }

  get serverName(): string {
    return this.#context.serverName ?? '';
  }

  refuses(shown: BalancedHost): boolean {
    const host = ShownHost.hostOf(shown);
    return host !== undefined && this.#context.refusesHost(host);
  }

  getMetadata(namespace: string, key: string): unknown {
    return metadataValue(this.#context.dynamicMetadata, namespace, [key]);
  }

  getFilterState(key: string): string | undefined {
    return this.#context.filterState?.(key);
  }
}
