/** Chooses the filter chain of a connection: by what the chains match, or by a matcher tree. */
import type { FilterChain } from '../../shared/resources/listener.ts';
import { HeaderMap } from '../stream/header-map.ts';
import { connectionStream } from '../stream/stream-info.ts';
import type { TreeMatcher } from '../matching/matcher-tree.ts';
import type { ConnectionFacts } from '../stream/connection-facts.ts';
import type { Watch } from '../net/transport-watcher.ts';
import type { DownstreamTlsFactory } from '../tls/downstream-tls.ts';
import type { ExplainStream } from '../stream/explained.ts';
import type { ChainServer } from '../stream/chain-server.ts';
import { ChainIndex } from './chain-index.ts';
import type { ChainDrain } from './drain-state.ts';

export interface CompiledChain {
  readonly resource: FilterChain;
  /** Undefined for a chain without filters, which closes its connections. */
  readonly server: ChainServer | undefined;
  readonly tls: DownstreamTlsFactory | undefined;
  /** Who looks at the bytes of its connections; undefined: nobody. */
  readonly watch?: () => Watch | undefined;
  /** The drain of this version of it. */
  readonly drain: ChainDrain;
  /** Absent where it does not serve HTTP. */
  readonly explain?: ExplainStream | undefined;
}

export class ChainSelector {
  /** Without the default one. */
  readonly all: readonly CompiledChain[];
  readonly #index: ChainIndex<CompiledChain>;
  readonly #default: CompiledChain | undefined;
  /** The answer where nothing has to be looked at. */
  readonly #only: CompiledChain | undefined = undefined;

  /** Stands in place of the chains' own matches where the listener has one. */
  readonly #matcher: ChainMatcher | undefined;
  /** For it; of equal names the first chain. */
  readonly #byName = new Map<string, CompiledChain>();

  constructor(
    chains: readonly CompiledChain[],
    defaultChain: CompiledChain | undefined,
    matcher?: ChainMatcher,
  ) {
    this.all = chains;
    this.#matcher = matcher;
    this.#index = new ChainIndex(chains.map((chain) => ({ chain, match: chain.resource.match })));
    this.#default = defaultChain;
    const [first] = chains;
    if (matcher !== undefined) {
      for (const chain of chains.toReversed()) this.#byName.set(chain.resource.name, chain);
    } else if (first === undefined) this.#only = defaultChain;
    else if (chains.length === 1 && first.resource.match === undefined) this.#only = first;
  }

  /** The chain that takes whatever comes, if there is one. */
  get only(): CompiledChain | undefined {
    return this.#only;
  }

  /** The one that takes what no other does. */
  get byDefault(): CompiledChain | undefined {
    return this.#default;
  }

  /** Undefined: no chain matches and there is no default one. */
  choose(facts: ConnectionFacts): CompiledChain | undefined {
    if (this.#matcher !== undefined) return this.#byMatcher(this.#matcher, facts);
    return this.#index.find(facts) ?? this.#default;
  }

  /** A name that no chain has closes the connection. */
  #byMatcher(matcher: ChainMatcher, facts: ConnectionFacts): CompiledChain | undefined {
    const name = matcher(NO_HEADERS, connectionStream(facts, UNTIMED));
    if (name === undefined) return this.#default;
    return this.#byName.get(name);
  }
}

/** The name of the chain; undefined: the default one. */
export type ChainMatcher = TreeMatcher<string>;

const NO_HEADERS = new HeaderMap();
/** Nobody looks at the times of a connection that is not served yet. */
const UNTIMED = { ms: 0, wallMs: 0 };
