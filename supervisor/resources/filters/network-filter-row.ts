/** The row of a network filter: how it is called, what resolves it, and where it may stand. */
import type { NetworkFilter } from '../../../shared/resources/listener.ts';
import { extension, type ExtensionFactory } from '../extensions.ts';
import type { Scope } from '../scope.ts';

export interface NetworkFilterFactory<
  Filter extends NetworkFilter = NetworkFilter,
> extends ExtensionFactory<Filter> {
  /** It ends a chain; others stand in front of one that does. */
  readonly isTerminal: boolean;
}

export function networkFilter<Message extends object, Filter extends NetworkFilter>(
  name: string,
  type: string,
  isTerminal: boolean,
  resolve: (message: Message, scope: Scope) => Filter | undefined,
): NetworkFilterFactory<Filter> {
  return { ...extension(name, type, resolve), isTerminal };
}
