/** Keys and signatures for scripts. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { LuaValue, Results } from '../../../../shared/lua/values.ts';
import { type MethodMaker, type Methods, type Scope, StreamObject } from './stream-object.ts';

const HASHES: ReadonlyMap<string, string> = new Map([
  ['sha1', 'sha1'],
  ['sha224', 'sha224'],
  ['sha256', 'sha256'],
  ['sha384', 'sha384'],
  ['sha512', 'sha512'],
]);

export class PublicKeyObject extends StreamObject {
  readonly key: KeyObject | undefined;

  constructor(methods: Methods, scope: Scope, der: Buffer) {
    super(methods, scope);
    this.key = readKey(der);
  }
}

function readKey(der: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

export function publicKeyMethods(maker: MethodMaker): Methods {
  return maker.methods<PublicKeyObject>(PublicKeyObject, {
    get: (self) => (self.key === undefined ? undefined : self),
  });
}

/** `handle:verifySignature(hash, key, signature, length, data, length)`. */
export function verifySignature({ check, state }: MethodMaker, args: readonly LuaValue[]): Results {
  const hash = check.text(args, 1);
  const key = args[2];
  const part = (at: number): Buffer =>
    Buffer.from(check.text(args, at), 'latin1').subarray(0, check.integer(args, at + 1));
  if (!(key instanceof PublicKeyObject)) throw check.wrong(args, 2, 'PublicKeyObject');
  const [signature, data] = [part(3), part(5)];
  const known = HASHES.get(hash.toLowerCase());
  if (known === undefined) return [false, `${hash} is not supported.`];
  if (key.key === undefined) return [false, 'Failed to initialize digest verify.'];
  state.spend(SIGNATURE_STEPS);
  return verified(known, data, { key: key.key, signature }) ? [true, ''] : [false, VERIFY_FAILED];
}

/** What a check costs, in steps. */
const SIGNATURE_STEPS = 1000;
const VERIFY_FAILED = 'Failed to verify digest. Error code: 0';

function verified(
  hash: string,
  data: Buffer,
  { key, signature }: { readonly key: KeyObject; readonly signature: Buffer },
): boolean {
  try {
    return verify(hash, data, key, signature);
  } catch {
    return false;
  }
}
