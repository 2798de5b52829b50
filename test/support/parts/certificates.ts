/** Certificates for tests, made by the openssl program in a scratch folder. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface TestCertificate {
  readonly certPath: string;
  readonly keyPath: string;
  readonly cert: string;
  readonly key: string;
}

type KeyType = 'ec' | 'rsa';

export interface TestAuthority extends TestCertificate {
  /** `san` is in openssl's form, such as `DNS:a.test,DNS:*.a.test`. */
  issue(name: string, san: string, keyType?: KeyType): TestCertificate;
}

export function makeAuthority(folder: string, name = 'ca'): TestAuthority {
  const paths = pathsOf(folder, name);
  openssl(
    [...newKey(paths.keyPath), '-x509', '-days', '2', '-subj', `/CN=${name}`],
    paths.certPath,
  );
  const issue = (leaf: string, san: string, keyType?: KeyType): TestCertificate => {
    const own = pathsOf(folder, leaf);
    const request = join(folder, `${leaf}.csr`);
    const extensions = join(folder, `${leaf}.ext`);
    writeFileSync(extensions, `subjectAltName=${san}\n`);
    openssl([...newKey(own.keyPath, keyType), '-subj', `/CN=${leaf}`], request);
    const signing = [
      'x509',
      '-req',
      '-in',
      request,
      '-CA',
      paths.certPath,
      '-CAkey',
      paths.keyPath,
    ];
    openssl([...signing, '-CAcreateserial', '-days', '2', '-extfile', extensions], own.certPath);
    return read(own);
  };
  return { ...read(paths), issue };
}

interface Paths {
  readonly certPath: string;
  readonly keyPath: string;
}

function pathsOf(folder: string, name: string): Paths {
  return { certPath: join(folder, `${name}.pem`), keyPath: join(folder, `${name}.key`) };
}

function read(paths: Paths): TestCertificate {
  const cert = readFileSync(paths.certPath, 'latin1');
  return { ...paths, cert, key: readFileSync(paths.keyPath, 'latin1') };
}

function newKey(path: string, keyType: KeyType = 'ec'): readonly string[] {
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  const kind = keyType === 'ec' ? curve : ['-newkey', 'rsa:2048'];
  return ['req', ...kind, '-nodes', '-keyout', path];
}

function openssl(args: readonly string[], output: string): void {
  execFileSync('openssl', [...args, '-out', output], { stdio: 'ignore' });
}
