/** HELLO: what a client asks for with it, and what it is told. */
import { asciiLower } from '../../../shared/text/ascii.ts';
import {
  array,
  bulk,
  errorValue,
  integer,
  RespKind,
  RespValue,
  type RespVersion,
} from '../codec/resp-value.ts';

export interface Greeting {
  readonly version: RespVersion;
  readonly auth: { readonly username: string; readonly password: string } | undefined;
}

export const NO_VERSION = 'NOPROTO unsupported protocol version';

/** What is agreed on. */
export interface Agreement {
  /** What the proxy has been told to speak. */
  readonly wanted: RespVersion;
  readonly present: RespVersion;
}

/** An error in place of what cannot be had. */
export function readGreeting(
  words: readonly string[],
  { wanted, present }: Agreement,
): Greeting | RespValue {
  const [, asked] = words;
  const isNumber = asked !== undefined && /^\s*[+]?\d{1,18}\s*$/.test(asked);
  const version = asked === undefined ? present : isNumber ? Number(asked) : 0;
  if (version !== wanted) return errorValue(NO_VERSION);
  let auth: Greeting['auth'];
  for (let at = 2; at < words.length;) {
    const [option = '', first, second] = words.slice(at, at + 3);
    switch (asciiLower(option)) {
      case 'auth':
        if (first === undefined || second === undefined) {
          return errorValue('ERR Syntax error: HELLO AUTH requires <username> <password>');
        }
        auth = { username: first, password: second };
        at += 3;
        break;
      case 'setname':
        if (first === undefined) {
          return errorValue('ERR Syntax error: HELLO SETNAME requires a <clientname>');
        }
        at += 2;
        break;
      default:
        return errorValue(`ERR Syntax error: unknown HELLO option '${option}'`);
    }
  }
  return { version: wanted, auth };
}

/** What is told of the server: names and values in turn. */
export function greetingAnswer(version: RespVersion): RespValue {
  return new RespValue(RespKind.map, '', [
    bulk('server'),
    bulk('envoy-redis-proxy'),
    bulk('version'),
    bulk('6.0.0'),
    bulk('proto'),
    integer(version),
    bulk('id'),
    integer(0),
    bulk('mode'),
    bulk('standalone'),
    bulk('role'),
    bulk('master'),
    bulk('modules'),
    array([]),
  ]);
}

/** Those that a client without the agreement on RESP3 may send. */
const BEFORE_HELLO: ReadonlySet<string> = new Set(['hello', 'auth', 'quit']);

export function comesTooEarly({ kind, items }: RespValue): boolean {
  const [first] = items;
  if (kind !== RespKind.array || first?.kind !== RespKind.bulk) return false;
  return !BEFORE_HELLO.has(asciiLower(first.text));
}
