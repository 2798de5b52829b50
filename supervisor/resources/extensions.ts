/**
 * The registry of one extension category: type URL to resolver. An extension that is not in it is
 * refused with its name, its place and what there is instead.
 */
import { typeNameOf } from '../config/type-name.ts';
import type { Any } from '../../shared/api/well-known.ts';
import type { Kinded, OfKind } from '../../shared/resources/by-kind.ts';
import { nearestName } from '../../shared/text/nearest-name.ts';
import type { NamedFilter } from '../resolved/filter-skips.ts';
import { innerTypeUrl, unpackOpaque } from './opaque-config.ts';
import { adviceForRefusal } from './refusal-advice.ts';
import type { Scope } from './scope.ts';

/** An extension as every place of the API writes it. */
export interface ExtensionMessage {
  readonly name?: string;
  readonly typed_config?: Any;
}

/** A filter in its list. */
interface FilterMessage extends ExtensionMessage {
  readonly is_optional?: boolean;
  /** Its settings come from elsewhere. */
  readonly config_discovery?: { readonly type_urls?: readonly string[] };
}

export interface ExtensionFactory<Resolved> {
  /** The canonical name, such as `envoy.filters.http.router`. */
  readonly name: string;
  /** Full name of the configuration's message. */
  readonly type: string;
  readonly resolve: (message: Any, scope: Scope, extensionName: string) => Resolved | undefined;
}

export interface FoundExtension<Factory> {
  readonly factory: Factory;
  /** The configuration's own message. */
  readonly config: Any;
}

/**
 * Makes a factory whose resolver sees the message as its own type: the type URL has decided that it
 * is one.
 */
export function extension<Message extends object, Resolved>(
  name: string,
  type: string,
  resolve: (message: Message, scope: Scope, extensionName: string) => Resolved | undefined,
): ExtensionFactory<Resolved> {
  return {
    name,
    type,
    resolve: (message, scope, extensionName) =>
      resolve(message as unknown as Message, scope, extensionName),
  };
}

type KindOf<Resolved> = Resolved extends Kinded ? Resolved['kind'] : never;

/**
 * What a registry is made of. What resolves to one of several kinds has a row for each of them, or
 * several: a kind without one is a type error. Everything else is a list.
 */
type ExtensionRows<Resolved, Factory, Kind extends string> = [Resolved] extends [Kinded]
  ? { readonly [Each in Kind]: RowOf<Resolved, Each, Factory> }
  : readonly Factory[];

type RowOf<Resolved extends Kinded, Kind extends Resolved['kind'], Factory> =
  | OwnRow<OfKind<Resolved, Kind>, Factory>
  | readonly OwnRow<OfKind<Resolved, Kind>, Factory>[];

/** The row of one kind, which is never made of another's message. */
type OwnRow<Resolved, Factory> = Factory & ExtensionFactory<Resolved>;

export class ExtensionRegistry<
  Resolved,
  Factory extends ExtensionFactory<Resolved> = ExtensionFactory<Resolved>,
  Kind extends KindOf<Resolved> = KindOf<Resolved>,
> {
  /** The API's name of it, such as `envoy.filters.http`. */
  readonly category: string;
  readonly #noun: string;
  readonly #byType = new Map<string, Factory>();

  /**
   * `noun` names one of them in messages, such as `HTTP filter`; `others` are extensions of which
   * each may resolve to any of several kinds.
   */
  constructor(
    category: string,
    noun: string,
    rows: ExtensionRows<Resolved, Factory, Kind>,
    others: readonly Factory[] = [],
  ) {
    this.category = category;
    this.#noun = noun;
    // Each value is a row or a list of rows, which the type of the rows has checked.
    const listed = (Object.values(rows) as (Factory | readonly Factory[])[]).flat() as Factory[];
    for (const factory of [...listed, ...others]) this.#byType.set(factory.type, factory);
  }

  /** The factory for a message's `typed_config`, or undefined after a reported problem. */
  find(message: ExtensionMessage, scope: Scope): FoundExtension<Factory> | undefined {
    const name = message.name ?? '';
    const place = scope.at('typed_config');
    if (message.typed_config === undefined) return this.#refuseUntyped(name, scope);
    const config = unpackOpaque(message.typed_config, place);
    if (config === undefined) return undefined;
    const type = typeNameOf(config['@type']);
    if (type === '') return this.#refuseUntyped(name, place);
    const factory = this.#byType.get(type);
    if (factory !== undefined && this.#isDisabled(factory, scope)) {
      place.error(
        'extension',
        `Didn't find a registered implementation for '${name}' with type URL: '${type}'`,
        `${this.category}/${factory.name} is switched off by --disable-extensions`,
      );
      return undefined;
    }
    if (factory !== undefined) return { factory, config };
    place.error(
      'unsupported',
      `${this.#noun} '${name}' of type '${type}' is not supported`,
      adviceForRefusal(type) ?? '`sluice features` lists what is served',
    );
    return undefined;
  }

  /**
   * Whether a filter that there is not is left out, with a warning: where it is optional, or where
   * `--unsupported-filters` allows it. What ends a list cannot be left out so.
   */
  leavesOut(message: FilterMessage, isLast: boolean, scope: Scope): boolean {
    if (message.config_discovery !== undefined) {
      return !isLast && this.#leavesOutDiscovered(message, scope);
    }
    if (this.knows(message, scope)) return false;
    const { name = '' } = message;
    if (message.is_optional === true) {
      const text = `optional ${this.#noun} '${name}' is left out: it is not supported`;
      scope.warning('unsupported', text);
      return true;
    }
    const { typed_config: config } = message;
    if (isLast || config === undefined) return false;
    return this.leavesOutType({ name, type: typeNameOf(innerTypeUrl(config)) }, scope);
  }

  /** The same of a filter whose settings come from elsewhere. */
  leavesOutType(filter: NamedFilter, scope: Scope): boolean {
    if (this.#byType.has(filter.type)) return false;
    if (scope.context.filterSkips?.allows(filter) !== true) return false;
    const what = `${this.#noun} '${filter.name}' of type '${filter.type}'`;
    scope.warning('skipped', `${what} is left out, as --unsupported-filters says`);
    return true;
  }

  /** Resolves the `typed_config`; undefined after a reported problem. */
  resolve(message: ExtensionMessage, scope: Scope): Resolved | undefined {
    const found = this.find(message, scope);
    if (found === undefined) return undefined;
    return found.factory.resolve(found.config, scope.at('typed_config'), message.name ?? '');
  }

  /** Whether the message's type is in the registry and may be used. */
  knows(message: ExtensionMessage, scope: Scope): boolean {
    const { typed_config: config } = message;
    const factory = config && this.#byType.get(typeNameOf(innerTypeUrl(config)));
    return factory !== undefined && !this.#isDisabled(factory, scope);
  }

  rows(): readonly Factory[] {
    return [...this.#byType.values()];
  }

  /** What there is, in the order in which it was registered. */
  entries(): readonly { readonly name: string; readonly type: string }[] {
    return this.rows().map(({ name, type }) => ({ name, type }));
  }

  /** Whether all types that it may be of are not there and can be left out. */
  #leavesOutDiscovered(message: FilterMessage, scope: Scope): boolean {
    const { name = '', config_discovery: { type_urls: urls = [] } = {} } = message;
    const types = urls.map(typeNameOf);
    const { filterSkips: skips } = scope.context;
    const areMissing = types.every((type) => !this.#byType.has(type));
    if (types.length === 0 || !areMissing) return false;
    if (types.some((type) => skips?.allows({ name, type }) !== true)) return false;
    return types.every((type) => this.leavesOutType({ name, type }, scope));
  }

  #isDisabled(factory: Factory, { context }: Scope): boolean {
    return context.disabledExtensions?.has(`${this.category}/${factory.name}`) === true;
  }

  /** Without a type nothing says what the settings are of. */
  #refuseUntyped(name: string, place: Scope): undefined {
    place.error(
      'extension',
      `Didn't find a registered implementation for '${name}' with type URL: ''`,
      this.#whatToWrite(name),
    );
  }

  #whatToWrite(name: string): string {
    const names = this.rows();
    const known = names.find((factory) => factory.name === name);
    if (known !== undefined) {
      return `add typed_config: {"@type": type.googleapis.com/${known.type}}`;
    }
    const near = nearestName(
      name,
      names.map((factory) => factory.name),
    );
    const meant = near === undefined ? '' : `; did you mean ${near}?`;
    return `typed_config needs an "@type" that names its message${meant}`;
  }
}
