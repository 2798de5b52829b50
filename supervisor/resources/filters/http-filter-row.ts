/** What the supervisor knows of one HTTP filter: its row in `http-filters.ts`. */
import type { Any } from '../../../shared/api/well-known.ts';
import type { HttpFilter } from '../../../shared/resources/filters/http-filters.ts';
import { extension, type ExtensionFactory } from '../extensions.ts';
import type { Scope } from '../scope.ts';

export interface HttpFilterRow<
  Filter extends HttpFilter = HttpFilter,
> extends ExtensionFactory<Filter> {
  /** Nothing may follow it, and a chain ends with one. */
  readonly isTerminal: boolean;
  /** Absent: routes cannot say anything of it. */
  readonly perRoute?: PerRouteSettings;
}

/** Settings of a filter that hold for a route, a virtual host or a route configuration. */
interface PerRouteSettings {
  /** Full name of their message. */
  readonly type: string;
  /** Gives what the filter reads in the worker. */
  readonly resolve: (message: Any, scope: Scope) => unknown;
}

export function httpFilter<Message extends object, Filter extends HttpFilter>(
  name: string,
  type: string,
  resolve: (message: Message, scope: Scope, filterName: string) => Filter | undefined,
  perRouteSettings?: PerRouteSettings,
): HttpFilterRow<Filter> {
  const row = { ...extension(name, type, resolve), isTerminal: false };
  return perRouteSettings === undefined ? row : { ...row, perRoute: perRouteSettings };
}

export function terminalHttpFilter<Message extends object, Filter extends HttpFilter>(
  name: string,
  type: string,
  resolve: (message: Message, scope: Scope, filterName: string) => Filter | undefined,
): HttpFilterRow<Filter> {
  return { ...extension(name, type, resolve), isTerminal: true };
}

/** The type URL decides that a message is of the resolver's own type. */
export function perRoute<Message extends object>(
  type: string,
  resolve: (message: Message, scope: Scope) => unknown,
): PerRouteSettings {
  return { type, resolve: (message, scope) => resolve(message as unknown as Message, scope) };
}
