/**
 * Who a client is: in from the beginning where no password is asked for, else after it has shown
 * one that the configuration or a service knows.
 */
import type { LoopClock } from '../../loop/loop-clock.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import { errorValue, OK, type RespValue } from '../codec/resp-value.ts';
import type { Words } from '../splitting/command-run.ts';
import { NO_PAIR, type Passwords, WRONG_PASSWORD } from './authentication.ts';
import type { ExternalAuth, ExternalVerdict } from './external-auth.ts';

export interface ClientIdentityParts {
  readonly passwords: Passwords;
  /** Undefined: the passwords of the configuration count. */
  readonly external: ExternalAuth | undefined;
  /** What a service agrees to holds until the time that it says. */
  readonly expires: boolean;
  readonly clock: Pick<LoopClock, 'wallMs'>;
  readonly info: StreamInfo;
  /** A question to a service is over: what came after it may go on. */
  readonly onAsked: () => void;
  readonly onException: () => void;
}

export class ClientIdentity {
  readonly #parts: ClientIdentityParts;
  #isIn: boolean;
  /** Unix seconds; 0: for as long as the connection stands. */
  #isInUntilS = 0;
  #question: { cancel(): void } | undefined = undefined;
  /** A service is being asked. */
  isAsking = false;

  constructor(parts: ClientIdentityParts) {
    this.#parts = parts;
    this.#isIn = parts.passwords.areNone && parts.external === undefined;
  }

  get isIn(): boolean {
    const { clock } = this.#parts;
    if (this.#isInUntilS > 0 && clock.wallMs > this.#isInUntilS * 1000) this.#isIn = false;
    return this.#isIn;
  }

  /** AUTH. */
  authenticate(words: Words, answer: (value: RespValue) => void): void {
    const { passwords, external } = this.#parts;
    const [, first = '', second] = words;
    const isPair = words.length === 3 && second !== undefined;
    if (external !== undefined) {
      this.#ask(external, [isPair ? first : '', isPair ? second : first], (verdict) => {
        const detail = verdict.message === '' ? 'unauthorized' : verdict.message;
        answer(answerTo(verdict, `ERR ${detail}`));
      });
      return;
    }
    const value = isPair ? passwords.checkPair(first, second) : passwords.checkPassword(first);
    // Where no password is asked for, showing one changes nothing.
    if (!passwords.areNone) this.#isIn = value === OK;
    answer(value);
  }

  /** With HELLO: OK, or why not. */
  check(username: string, password: string, answer: (value: RespValue) => void): void {
    const { passwords, external } = this.#parts;
    if (external !== undefined) {
      this.#ask(external, [username, password], (verdict) => {
        const { message } = verdict;
        answer(answerTo(verdict, message === '' ? WRONG_PASSWORD : `WRONGPASS ${message}`));
      });
      return;
    }
    if (passwords.areNone) {
      answer(errorValue(NO_PAIR));
      return;
    }
    const value = passwords.checkPair(username, password);
    this.#isIn = value === OK;
    answer(value);
  }

  /** Nobody is asked any more. */
  forget(): void {
    this.#question?.cancel();
    this.#question = undefined;
  }

  #ask(
    external: ExternalAuth,
    [username, password]: readonly [string, string],
    tell: (verdict: ExternalVerdict) => void,
  ): void {
    const { info, expires, onAsked, onException } = this.#parts;
    this.isAsking = true;
    const onVerdict = (verdict: ExternalVerdict): void => {
      this.isAsking = false;
      this.#question = undefined;
      if (verdict.kind !== 'failed') this.#isIn = verdict.kind === 'allowed';
      if (verdict.kind === 'allowed' && expires) this.#isInUntilS = verdict.expiresAtS;
      tell(verdict);
      onAsked();
    };
    const question = external.ask({ username, password, info, onVerdict, onException });
    if (this.isAsking) this.#question = question;
  }
}

function answerTo({ kind }: ExternalVerdict, denied: string): RespValue {
  if (kind === 'allowed') return OK;
  return errorValue(kind === 'denied' ? denied : 'ERR external authentication failed');
}
