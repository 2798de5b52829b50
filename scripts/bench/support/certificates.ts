/** Self-signed certificates for the questions over TLS, made by the openssl program. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export type CertificateKind = 'rsa' | 'ecdsa';

export interface CertificateFiles {
  readonly chain: string;
  readonly key: string;
}

const NEW_KEY: Readonly<Record<CertificateKind, readonly string[]>> = {
  rsa: ['-newkey', 'rsa:2048'],
  ecdsa: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
};

/** Made on the first call for a folder. */
export function certificateFiles(folder: string, kind: CertificateKind): CertificateFiles {
  const files = { chain: join(folder, `${kind}.pem`), key: join(folder, `${kind}.key`) };
  if (existsSync(files.chain)) return files;
  const output = ['-keyout', files.key, '-out', files.chain];
  const subject = ['-days', '2', '-subj', '/CN=bench'];
  execFileSync('openssl', ['req', '-x509', ...NEW_KEY[kind], '-nodes', ...output, ...subject], {
    stdio: 'ignore',
  });
  return files;
}
