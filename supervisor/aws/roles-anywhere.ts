/**
 * Credentials of IAM Roles Anywhere, which asks who proves by a certificate of its own to be who it
 * is: the request is signed with the certificate's key (`AWS4-X509-RSA-SHA256`, `-ECDSA-`).
 */
import { createPrivateKey, sign, X509Certificate } from 'node:crypto';
import type { Dictionary } from '../../shared/text/dictionary.ts';
import { canonicalRequest, pathStyleOf, sha256Hex } from '../../shared/aws/canonical-request.ts';
import type { CredentialSource, RolesAnywhere } from '../../shared/aws/credential-provider.ts';
import { amzDate } from '../../shared/aws/signature.ts';
import { readAnswer, type FetchedCredentials } from './credentials-answer.ts';
import { askService } from './small-request.ts';

interface AskOptions {
  readonly signal: AbortSignal;
  readonly wallMs: () => number;
}

const PATH = '/sessions';
const SERVICE = 'rolesanywhere';
const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
/** Certificates of a chain that are sent along. */
const CHAIN_MAX = 5;

export async function askRolesAnywhere(
  provider: RolesAnywhere,
  read: (source: CredentialSource) => Promise<string>,
  { signal, wallMs }: AskOptions,
): Promise<FetchedCredentials> {
  const certificate = new X509Certificate(await read(provider.certificate));
  const chain = provider.certificateChain && derChain(await read(provider.certificateChain));
  const { sessionName } = provider;
  const body = JSON.stringify({
    durationSeconds: provider.durationS,
    profileArn: provider.profileArn,
    roleArn: provider.roleArn,
    trustAnchorArn: provider.trustAnchorArn,
    ...(sessionName === '' ? {} : { roleSessionName: sessionName }),
  });
  const headers = {
    'content-type': 'application/json',
    host: new URL(provider.endpoint).host,
    'x-amz-date': amzDate(wallMs()),
    'x-amz-x509': certificate.raw.toString('base64'),
    ...(chain === undefined ? {} : { 'x-amz-x509-chain': chain }),
  };
  const key = await read(provider.privateKey);
  const authorization = signatureOf(certificate, key, { headers, body, region: provider.region });
  const { host: _, ...sent } = headers;
  const url = `${provider.endpoint}${PATH}`;
  const request = { url, method: 'POST', headers: { ...sent, authorization }, body } as const;
  return readAnswer(await askService(request, signal), ['credentialSet', 'credentials']);
}

interface SignedSession {
  readonly headers: Readonly<Dictionary<string>> & { readonly 'x-amz-date': string };
  readonly body: string;
  readonly region: string;
}

function signatureOf(
  certificate: X509Certificate,
  pem: string,
  { headers, body, region }: SignedSession,
): string {
  const key = createPrivateKey(pem);
  const name = `AWS4-X509-${key.asymmetricKeyType === 'ec' ? 'ECDSA' : 'RSA'}-SHA256`;
  const date = headers['x-amz-date'];
  const scope = `${date.slice(0, 8)}/${region}/${SERVICE}/aws4_request`;
  const request = { method: 'POST', path: PATH, headers: Object.entries(headers) };
  const { text, signedHeaders } = canonicalRequest(request, sha256Hex(body), pathStyleOf(SERVICE));
  const signed = Buffer.from(`${name}\n${date}\n${scope}\n${sha256Hex(text)}`);
  const signature = sign('sha256', signed, key).toString('hex');
  const serial = BigInt(`0x${certificate.serialNumber}`).toString();
  return `${name} Credential=${serial}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`;
}

function derChain(text: string): string {
  const blocks = [...text.matchAll(PEM_BLOCK)].slice(0, CHAIN_MAX);
  return blocks.map(([pem]) => new X509Certificate(pem).raw.toString('base64')).join(',');
}
