/**
 * Where a TLS session may be resumed: the text that OpenSSL writes into each ticket, and without
 * whose like it makes a full handshake. It is a hash of everything that decides who may pass, and
 * of where the present time stands among the dates of what is trusted: after an authority has
 * expired, or a revocation list is due, everybody is judged in full again.
 */
import { createHash } from 'node:crypto';
import type { TlsCertificate, TlsContext, TlsValidation } from '../resources/tls.ts';
import { pemBlocks, readCertificate } from './certificate-parts.ts';
import { elementAt, elementsIn, readTime, TAG, wholeOf } from './der.ts';

export interface SessionRules {
  readonly parameters: TlsContext['parameters'];
  readonly certificates: readonly TlsCertificate[];
  readonly validation: TlsValidation | undefined;
  readonly requiresPeer: boolean;
  readonly requiresServerName: boolean;
  /** For which the filter chain is chosen. */
  readonly serverNames: readonly string[];
}

/** OpenSSL's bound is 32 bytes; the runtime takes text. */
const CONTEXT_CHARACTERS = 32;

/**
 * A ticket is made again at each resumption. Clients that were asked for a certificate show the
 * whole chain of it again after this time at the latest, because a ticket keeps the first
 * certificate alone.
 */
const FULL_HANDSHAKE_PERIOD_MS = 24 * 3600 * 1000;

export class SessionContext {
  readonly #rules: string;
  /** Ascending, when something that is trusted begins or ends. */
  readonly #dates: readonly number[];
  readonly #period: number;
  /** The times for which the present text holds. */
  #since = 0;
  #until = -1;
  #present = '';

  constructor(rules: SessionRules) {
    this.#rules = digestOf(rules);
    this.#dates = datesOf(rules.validation);
    const asksPeer = rules.validation !== undefined || rules.requiresPeer;
    this.#period = asksPeer ? FULL_HANDSHAKE_PERIOD_MS : Number.POSITIVE_INFINITY;
  }

  /** Whether `at` has another text by now. */
  isOver(nowMs: number): boolean {
    return nowMs < this.#since || nowMs >= this.#until;
  }

  at(nowMs: number): string {
    if (!this.isOver(nowMs)) return this.#present;
    const passed = this.#dates.filter((date) => date <= nowMs).length;
    // Servers do not ask all of their clients at the same moment.
    const offset = Number.parseInt(this.#rules.slice(0, 8), 16) % FULL_HANDSHAKE_PERIOD_MS;
    const period = Number.isFinite(this.#period)
      ? Math.floor((nowMs + offset) / this.#period)
      : undefined;
    const begin = period === undefined ? 0 : period * this.#period - offset;
    const end = period === undefined ? Number.POSITIVE_INFINITY : begin + this.#period;
    this.#since = Math.max(begin, this.#dates[passed - 1] ?? 0);
    this.#until = Math.min(end, this.#dates[passed] ?? Number.POSITIVE_INFINITY);
    const hash = createHash('sha256').update(JSON.stringify([this.#rules, passed, period]));
    this.#present = hash.digest('hex').slice(0, CONTEXT_CHARACTERS);
    return this.#present;
  }
}

/**
 * Names of secrets and paths of files decide nothing: the same validation may come by either way.
 */
function digestOf({ certificates, validation, ...others }: SessionRules): string {
  const rules = { ...others, validation: validation && decisive(validation) };
  const hash = createHash('sha256').update(JSON.stringify(rules));
  for (const { chain, names } of certificates) hash.update(identityOf(chain, names));
  return hash.digest('hex');
}

function decisive(validation: TlsValidation): object {
  return { ...validation, caPath: '', secretName: '' };
}

const SUBJECT_ALT_NAME = '2.5.29.17';

/** Whom a server's certificate names and who says so: a renewed certificate resumes as before. */
function identityOf(chain: string, names: readonly string[]): Buffer {
  const [leaf] = pemBlocks(chain, 'CERTIFICATE');
  const parts = leaf && readCertificate(leaf);
  if (parts === undefined) return Buffer.from(JSON.stringify([chain, names]));
  const { raw, subject, issuer, extensions } = parts;
  const others = extensions.get(SUBJECT_ALT_NAME);
  const all = [subject, issuer, ...(others === undefined ? [] : [others])];
  return Buffer.concat(all.map((element) => wholeOf(raw, element)));
}

function datesOf(validation: TlsValidation | undefined): readonly number[] {
  const authorities = pemBlocks(validation?.trustedCa ?? '', 'CERTIFICATE');
  const lists = pemBlocks(validation?.crl ?? '', 'X509 CRL');
  const dates = [
    ...authorities.flatMap((raw) => {
      const parts = readCertificate(raw);
      return parts === undefined ? [] : [parts.validFromMs, parts.validToMs + 1];
    }),
    ...lists.flatMap(datesOfList),
  ];
  return dates.filter((date) => !Number.isNaN(date)).sort((one, other) => one - other);
}

/** The first times of a list are those between which it holds: thisUpdate and nextUpdate. */
function datesOfList(raw: Buffer): readonly number[] {
  const whole = elementAt(raw, 0);
  const tbs = whole && elementAt(raw, whole.start, whole.end);
  const fields = tbs === undefined ? [] : elementsIn(raw, tbs);
  return fields
    .filter(({ tag }) => tag === TAG.utcTime || tag === TAG.generalizedTime)
    .map((time) => readTime(raw, time));
}
