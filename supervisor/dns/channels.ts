/**
 * Questions to name servers through c-ares: its channels look for answers that did not come in time
 * once a second and tell of all of them in one go, so that no channel may have too many questions
 * open.
 */
import { Resolver, type RecordWithTtl } from 'node:dns';
import type { ResolverSettings } from '../resolved/resolved-bootstrap.ts';
import type { Turns } from './turns.ts';

type Answered = (error: NodeJS.ErrnoException | null, records: RecordWithTtl[]) => void;

interface Channel {
  readonly resolver: Resolver;
  open: number;
}

interface Question {
  readonly name: string;
  readonly family: 4 | 6;
}

/** Questions with a socket of their own; beyond, they fail with those that a datagram ended. */
const ALONE_MAX = 256;
/** To tell of so many takes some milliseconds. */
const QUESTIONS_PER_CHANNEL = 128;

export class Channels {
  readonly #settings: ResolverSettings;
  readonly #turns: Turns;
  readonly #first: Channel;
  readonly #more = new Set<Channel>();
  /** Channels of single questions that are asked once more. */
  readonly #alone = new Set<Channel>();
  #isCancelled = false;

  /** What comes of questions is told in `turns`. */
  constructor(settings: ResolverSettings, turns: Turns) {
    this.#settings = settings;
    this.#turns = turns;
    this.#first = this.#make();
  }

  /** `address:port` of the name servers. */
  get servers(): readonly string[] {
    return this.#first.resolver.getServers();
  }

  /**
   * Any datagram that is no message ends all questions of its socket. Each of them is
   * asked once more on a channel of its own, where the next such datagram ends that one alone.
   */
  ask(name: string, family: 4 | 6, answered: Answered): void {
    const tell: Answered = (error, records) =>
      void this.#turns.next().then(() => answered(error, records));
    const channel = this.#free();
    this.#askOn(channel, { name, family }, (error, records) => {
      if (channel.open === 0) this.#more.delete(channel);
      const isShared = error?.code === 'EBADRESP' && this.#alone.size < ALONE_MAX;
      if (isShared && !this.#isCancelled) this.#askAlone({ name, family }, tell);
      else tell(error, records);
    });
  }

  /** What is open fails. */
  cancel(): void {
    this.#isCancelled = true;
    for (const { resolver } of [this.#first, ...this.#more, ...this.#alone]) resolver.cancel();
  }

  #askAlone(question: Question, answered: Answered): void {
    const channel = this.#make();
    this.#alone.add(channel);
    this.#askOn(channel, question, (error, records) => {
      this.#alone.delete(channel);
      answered(error, records);
    });
  }

  #askOn(channel: Channel, { name, family }: Question, answered: Answered): void {
    channel.open += 1;
    const callback: Answered = (error, records) => {
      channel.open -= 1;
      answered(error, records);
    };
    if (family === 4) channel.resolver.resolve4(name, { ttl: true }, callback);
    else channel.resolver.resolve6(name, { ttl: true }, callback);
  }

  #free(): Channel {
    if (this.#first.open < QUESTIONS_PER_CHANNEL) return this.#first;
    for (const channel of this.#more) if (channel.open < QUESTIONS_PER_CHANNEL) return channel;
    const made = this.#make();
    this.#more.add(made);
    return made;
  }

  #make(): Channel {
    const { servers, serversAreFallback, timeoutMs, tries } = this.#settings;
    const resolver = new Resolver({ timeout: timeoutMs, tries });
    const useOwn = servers.length > 0 && !(serversAreFallback && hasSystemServers(resolver));
    if (useOwn) resolver.setServers(servers);
    return { resolver, open: 0 };
  }
}

/** c-ares falls back to the loopback interface when the system names no server. */
function hasSystemServers(resolver: Resolver): boolean {
  return resolver.getServers().some((server) => server !== '127.0.0.1');
}
