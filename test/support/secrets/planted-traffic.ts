/** What clients and services send, and what is looked for in the texts of a server. */
import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TestCertificate } from '../parts/certificates.ts';
import { DUMPED, HIDDEN, PASSWORD, PASSWORD_HASH, planted } from './planted-names.ts';

/** What clients and services send. */
const SENT = [
  'client-cookie',
  'host-cookie',
  'client-bearer',
  'granted-header',
  'access-token',
  'refresh-token',
  'id-token',
  'proxy-credential',
  'mesh-token',
  'wrong',
] as const;

/** A text of which a fixed part is in every base64 text that has it, at any place. */
function formsOf(secret: string): readonly string[] {
  const forms = [secret];
  for (const ahead of ['', 'x', 'xx']) {
    const text = Buffer.from(ahead + secret).toString('base64');
    const inner = text.slice(ahead === '' ? 0 : 4, -4);
    forms.push(inner, inner.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return forms;
}

/** What is looked for, by the name of its place. */
export function makeSecrets(
  certificate: TestCertificate,
  token: string,
): Map<string, readonly string[]> {
  const places = [...HIDDEN, ...DUMPED, ...SENT].filter((place) => place !== 'basic-hash');
  const secrets = new Map(places.map((place) => [place as string, formsOf(planted(place))]));
  const [line = ''] = certificate.key.split('\n').slice(1);
  secrets.set('tls-key', [line]);
  secrets.set('basic-hash', [PASSWORD_HASH.slice(5)]);
  secrets.set('basic-password', formsOf(PASSWORD));
  secrets.set('token-signature', [token.slice(token.lastIndexOf('.') + 1)]);
  return secrets;
}

const answerTokens = JSON.stringify({
  access_token: planted('access-token'),
  refresh_token: planted('refresh-token'),
  id_token: planted('id-token'),
  expires_in: 3600,
});

export function serve({ url = '', method }: IncomingMessage, answer: ServerResponse): void {
  if (url.startsWith('/token') && method === 'POST') {
    answer.setHeader('content-type', 'application/json');
    answer.end(answerTokens);
    return;
  }
  answer.setHeader('x-granted', planted('granted-header'));
  answer.setHeader('set-cookie', `session=${planted('host-cookie')}; HttpOnly`);
  answer.end('hello');
}

/** Of HS256, by the shared key of the configuration. */
export function makeToken(): string {
  const encoded = (value: object): string =>
    Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encoded({ alg: 'HS256', kid: 'shared' })}.${encoded({ iss: 'i', sub: 'me' })}`;
  const key = Buffer.from(planted('jwks-shared'));
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

type Change = (secret: string) => unknown;

/** What stands in a secret's place. */
export const CHANGES: readonly Change[] = [
  (secret) => ({ wrong: secret }),
  (secret) => [secret],
  (secret) => `${secret}\u0000\n{`,
];

const isSecret = (text: string): boolean =>
  /planted7f3a|PRIVATE KEY/.test(text) ||
  text.includes(PASSWORD_HASH) ||
  text.includes('cGxhbnRlZDdmM2E');

/** Every secret of a configuration is changed. */
export function changed(value: unknown, change: Change): unknown {
  if (typeof value === 'string') return isSecret(value) ? change(value) : value;
  if (Array.isArray(value)) return value.map((each) => changed(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, changed(inner, change)]),
  );
}
