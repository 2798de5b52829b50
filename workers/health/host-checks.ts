/**
 * All checks of one host: what they find together. A host is well when it passes every one of them;
 * before each has had its first result nothing is told.
 */
import { ACTIVE_CHECK_BITS, HEALTH_BITS } from '../../shared/resources/clusters/host-health.ts';

/** One check's rhythm with the host; see health-session.ts. */
export interface CheckSession {
  noteBits(bits: number): void;
  close(): void;
}

export interface HostChecksOptions {
  /** Each begins a session that tells `report` its bits. */
  readonly sessions: readonly ((report: (bits: number) => void) => CheckSession)[];
  /** The host's state as it is known; undefined: it was not checked before. */
  readonly bits: number | undefined;
  /** The bits of active checks from now on. */
  readonly report: (bits: number) => void;
  /** One check's own result is another: for its figures. */
  readonly changed: (check: number, before: number | undefined, now: number | undefined) => void;
}

export class HostChecks {
  readonly #options: HostChecksOptions;
  /** By check; undefined: it has no result yet. */
  readonly #found: (number | undefined)[];
  readonly #sessions: readonly CheckSession[];

  constructor(options: HostChecksOptions) {
    this.#options = options;
    const known = options.bits === undefined ? undefined : options.bits & ACTIVE_CHECK_BITS;
    this.#found = options.sessions.map(() => known);
    for (const check of this.#found.keys()) options.changed(check, undefined, known);
    this.#sessions = options.sessions.map((begin, check) =>
      begin((bits) => this.#heard(check, bits)),
    );
  }

  /** What all workers know of the host now. */
  noteBits(bits: number): void {
    const isAlone = this.#sessions.length === 1;
    const failsElsewhere = (bits & ~this.#together() & HEALTH_BITS.failed_active_hc) !== 0;
    for (const [check, session] of this.#sessions.entries()) {
      // What one check found is not what the others did.
      if (isAlone || failsElsewhere) this.#set(check, bits & ACTIVE_CHECK_BITS);
      session.noteBits((bits & ~ACTIVE_CHECK_BITS) | (this.#found[check] ?? 0));
    }
  }

  close(): void {
    for (const [check, session] of this.#sessions.entries()) {
      session.close();
      this.#options.changed(check, this.#found[check], undefined);
    }
  }

  #heard(check: number, bits: number): void {
    this.#set(check, bits);
    if (!this.#found.includes(undefined)) this.#options.report(this.#together());
  }

  #set(check: number, bits: number): void {
    this.#options.changed(check, this.#found[check], bits);
    this.#found[check] = bits;
  }

  #together(): number {
    return this.#found.reduce<number>((all, bits = 0) => all | bits, 0);
  }
}
