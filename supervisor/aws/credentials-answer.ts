/** Reads what services answer that give credentials: JSON with the same members under two names. */
import { memberOf } from '../../shared/text/dictionary.ts';
import type { AwsCredentials } from '../../shared/aws/signature.ts';

export interface FetchedCredentials {
  readonly credentials: AwsCredentials;
  /** On the wall clock; absent: they do not end. */
  readonly endsAtMs?: number;
}

/** The members stand at `path` in the answer; of a list the first counts. Throws when it is not what it should be. */
export function readAnswer(text: string, path: readonly string[]): FetchedCredentials {
  let found: unknown = JSON.parse(text);
  for (const key of path) found = memberOf(firstOf(found), key);
  found = firstOf(found);
  const read = (...names: readonly string[]): string => {
    for (const name of names) {
      const value = memberOf(found, name);
      if (typeof value === 'string') return value;
    }
    return '';
  };
  const accessKeyId = read('AccessKeyId', 'accessKeyId');
  const secretAccessKey = read('SecretAccessKey', 'secretAccessKey');
  if (accessKeyId === '' || secretAccessKey === '')
    throw new Error('the answer has no credentials');
  const sessionToken = read('SessionToken', 'Token', 'sessionToken');
  if ([accessKeyId, secretAccessKey, sessionToken].some((each) => /[\r\n]/.test(each))) {
    throw new Error('the answer has credentials of several lines');
  }
  const credentials = { accessKeyId, secretAccessKey, sessionToken };
  const endsAtMs = endOf(found, read('Expiration', 'expiration'));
  return endsAtMs === undefined ? { credentials } : { credentials, endsAtMs };
}

/** A date as text, or seconds since 1970, which the token service writes. */
function endOf(found: unknown, text: string): number | undefined {
  const seconds = memberOf(found, 'Expiration');
  if (typeof seconds === 'number') return Number.isFinite(seconds) ? seconds * 1000 : undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? (value as readonly unknown[])[0] : value;
}
