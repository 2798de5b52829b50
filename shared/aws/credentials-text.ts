/** Credentials as they cross to workers: the bytes of a secret. */
import type { AwsCredentials } from './signature.ts';

const PARTS = 3;

export function writeCredentials(credentials: AwsCredentials): Buffer {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  return Buffer.from([accessKeyId, secretAccessKey, sessionToken].join('\n'));
}

/** Undefined where there is no key. */
export function readCredentials(text: string): AwsCredentials | undefined {
  const parts = text.split('\n');
  const [accessKeyId = '', secretAccessKey = '', sessionToken = ''] = parts;
  if (parts.length !== PARTS || accessKeyId === '' || secretAccessKey === '') return undefined;
  return { accessKeyId, secretAccessKey, sessionToken };
}
