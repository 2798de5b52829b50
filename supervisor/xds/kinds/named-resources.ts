/**
 * Resources that others name instead of holding them: one subscription for each source and name,
 * however many use it, from its first user to its last. What a resource means is its kind's matter.
 */
import type { DiscoveryConsumer, DiscoveryUpdate } from '../subscriptions/discovery-update.ts';
import type { Interest, OpenSubscription } from '../subscriptions/discovery-sources.ts';
import type { ResourceUse } from '../../store/resource-use.ts';

/** What is the same for all resources of a kind. */
export interface NamedKind<Named> {
  /** Opens the subscription of one that nobody used before. */
  open(named: Named): SharedResource;
  /** As `/init_dump` names it. */
  target(named: Named): string;
  /** Absent: everyone waits for its first answer. */
  waits?(named: Named): boolean;
}

export class NamedResources<Named extends { readonly key: string }> {
  readonly #kind: NamedKind<Named>;
  readonly #shared = new Map<string, Held>();

  constructor(kind: NamedKind<Named>) {
    this.#kind = kind;
  }

  use(named: Named): ResourceUse {
    const held = this.#shared.get(named.key) ?? { users: 0, resource: this.#kind.open(named) };
    this.#shared.set(named.key, held);
    held.users++;
    const { resource } = held;
    const waits = this.#kind.waits?.(named) ?? true;
    let isReleased = false;
    return {
      target: this.#kind.target(named),
      ready: waits ? resource.ready : Promise.resolve(),
      isReady: () => resource.isReady || !waits,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        held.users--;
        if (held.users > 0) return;
        this.#shared.delete(named.key);
        resource.close();
      },
    };
  }

  /** As `/init_dump` names it, whether anyone uses it yet or not. */
  targetOf(named: Named): string {
    return this.#kind.target(named);
  }

  /** A request needs something of one; `answered` is called once, whatever comes of it. */
  wanted(key: string, what: string, answered: () => void): void {
    const held = this.#shared.get(key);
    if (held === undefined) answered();
    else held.resource.wanted(what, answered);
  }

  close(): void {
    for (const { resource } of this.#shared.values()) resource.close();
    this.#shared.clear();
  }
}

interface Held {
  users: number;
  readonly resource: SharedResource;
}

/** One resource with its subscription; a kind says what comes of its updates and of its end. */
export abstract class SharedResource implements DiscoveryConsumer {
  /** Resolves when its first answer is there, or was waited for in vain. */
  readonly ready: Promise<void>;
  #isReady = false;
  #isClosed = false;
  #resolveReady: (() => void) | undefined;
  #subscription: OpenSubscription | undefined;

  constructor() {
    this.ready = new Promise((resolve) => {
      this.#resolveReady = resolve;
    });
  }

  abstract update(update: DiscoveryUpdate): Promise<string | undefined>;

  /** Called once, when nobody uses it any more. */
  protected abstract ended(): void;

  /** By default nothing of it can be wanted. */
  wanted(_what: string, answered: () => void): void {
    answered();
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  refused(): void {}

  settled(): void {
    this.#isReady = true;
    this.#resolveReady?.();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#subscription?.close();
    this.settled();
    this.ended();
  }

  /** Asks for one more name, now and after each new stream. */
  protected want(name: string): void {
    this.#subscription?.want(name);
  }

  /** Once, when all is there that an update needs. */
  protected subscribe(
    open: (interest: Interest) => OpenSubscription,
    interest: Omit<Interest, 'consumer'>,
  ): void {
    this.#subscription = open({ ...interest, consumer: this });
    this.#subscription.start();
  }
}
