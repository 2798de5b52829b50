/**
 * What the hot-restart sockets threw away: counted from the first datagram on, although the
 * statistics come later, and logged so rarely that no sender fills a log.
 */
import type { Clock } from '../../shared/process/clock.ts';

/** Datagrams of users who may not command, and those that are no message. */
export type RefusalKind = 'foreign_datagrams' | 'malformed_datagrams';

/** Users with a log line of their own; more of them are only counted. */
const USERS_LOGGED_MAX = 16;
const LINE_PERIOD_MS = 60_000;

export class Refusals {
  readonly #clock: Clock;
  readonly #warn: (text: string) => void;
  readonly #uncounted = new Map<RefusalKind, number>();
  readonly #usersLogged = new Set<number | undefined>();
  #count: ((kind: RefusalKind, count: number) => void) | undefined;
  #nextLineMs = Number.NEGATIVE_INFINITY;
  #unsaid = 0;

  constructor(clock: Clock, warn: (text: string) => void) {
    this.#clock = clock;
    this.#warn = warn;
  }

  /** One subscriber, told of what came before it, too. */
  onCounted(count: (kind: RefusalKind, count: number) => void): void {
    this.#count = count;
    for (const [kind, before] of this.#uncounted) count(kind, before);
    this.#uncounted.clear();
  }

  /** Each user is logged once. */
  stranger(path: string, uid: number | undefined, pid: number | undefined): void {
    this.#add('foreign_datagrams');
    if (this.#usersLogged.has(uid) || this.#usersLogged.size >= USERS_LOGGED_MAX) return;
    this.#usersLogged.add(uid);
    const who = uid === undefined ? 'an unknown user' : `user ${uid} (pid ${pid})`;
    this.#warn(`refused what ${who} sent to ${path}; what else that user sends is only counted`);
  }

  malformed(text: string): void {
    this.#add('malformed_datagrams');
    this.say(text);
  }

  /** Once a minute; the next line says how many were left out. */
  say(text: string): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#nextLineMs) {
      this.#unsaid += 1;
      return;
    }
    this.#nextLineMs = nowMs + LINE_PERIOD_MS;
    this.#warn(this.#unsaid === 0 ? text : `${text} (and ${this.#unsaid} warnings before it)`);
    this.#unsaid = 0;
  }

  #add(kind: RefusalKind): void {
    if (this.#count === undefined) this.#uncounted.set(kind, (this.#uncounted.get(kind) ?? 0) + 1);
    else this.#count(kind, 1);
  }
}
