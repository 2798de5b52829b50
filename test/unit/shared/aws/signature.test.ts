/**
 * Signatures of AWS: vectors that AWS published (the suite of Signature Version 4, and the key pair of
 * its runtime's tests), and canonical forms that Envoy's signatures showed for the same requests.
 */
import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { describe, it } from 'node:test';
import {
  canonicalPath,
  canonicalQuery,
  canonicalRequest,
  EMPTY_HASH,
  pathStyleOf,
  type HeaderPair,
} from '../../../../shared/aws/canonical-request.ts';
import {
  authorization,
  deriveKeyPair,
  Signer,
  stringToSign,
} from '../../../../shared/aws/signature.ts';

const CREDENTIALS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: '',
};
const DATE = '20150830T123600Z';
const HEADERS: readonly HeaderPair[] = [
  ['host', 'example.amazonaws.com'],
  ['x-amz-date', DATE],
];

const VECTORS = [
  {
    name: 'get-vanilla',
    target: ['GET', '/'],
    signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  },
  {
    name: 'get-vanilla-query-order-key-case',
    target: ['GET', '/?Param2=value2&Param1=value1'],
    signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  },
  {
    name: 'post-vanilla',
    target: ['POST', '/'],
    signature: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  },
] as const;

describe('signature version 4', () => {
  for (const { name, target, signature } of VECTORS) {
    it(`gives the signature of ${name}`, () => {
      const [method, path] = target;
      const request = { method, path, headers: HEADERS };
      const { text } = canonicalRequest(request, EMPTY_HASH, pathStyleOf('service'));
      const scope = {
        algorithm: 'v4',
        service: 'service',
        region: 'us-east-1',
        date: DATE,
      } as const;
      assert.equal(new Signer().signature(CREDENTIALS, scope, text), signature);
    });
  }

  it("gives the header of the documentation's request", () => {
    const headers: readonly HeaderPair[] = [
      ['content-type', 'application/x-www-form-urlencoded; charset=utf-8'],
      ['host', 'iam.amazonaws.com'],
      ['x-amz-date', DATE],
    ];
    const request = { method: 'GET', path: '/?Action=ListUsers&Version=2010-05-08', headers };
    const canonical = canonicalRequest(request, EMPTY_HASH, pathStyleOf('iam'));
    const scope = { algorithm: 'v4', service: 'iam', region: 'us-east-1', date: DATE } as const;
    assert.equal(
      authorization(new Signer(), CREDENTIALS, scope, canonical),
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, ' +
        'SignedHeaders=content-type;host;x-amz-date, ' +
        'Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
    );
  });

  it('makes another key for another day, region or secret', () => {
    const signer = new Signer();
    const scope = { algorithm: 'v4', service: 's', region: 'r', date: DATE } as const;
    const first = signer.signature(CREDENTIALS, scope, 'x');
    const changes = [
      signer.signature(CREDENTIALS, { ...scope, date: '20150831T123600Z' }, 'x'),
      signer.signature(CREDENTIALS, { ...scope, region: 'q' }, 'x'),
      signer.signature({ ...CREDENTIALS, secretAccessKey: 'other' }, scope, 'x'),
    ];
    assert.equal(new Set([first, ...changes]).size, 4);
    assert.equal(signer.signature(CREDENTIALS, scope, 'x'), first);
  });
});

describe('signature version 4a', () => {
  it("derives the key pair of the runtime's tests", () => {
    const { x = '', y = '' } = deriveKeyPair({
      accessKeyId: 'AKISORANDOMAASORANDOM',
      secretAccessKey: 'q+jcrXGc+0zWN6uzclKVhvMmUsIfRPa4rlRandom',
      sessionToken: '',
    }).export({ format: 'jwk' });
    const hex = (text: string): string => Buffer.from(text, 'base64url').toString('hex');
    assert.equal(hex(x), '15d242ceebf8d8169fd6a8b5a746c41140414c3b07579038da06af89190fffcb');
    assert.equal(hex(y), '0515242cedd82e94799482e4c0514b505afccf2c0c98d6a553bf539f424c5ec0');
  });

  it('makes signatures that its public key verifies', () => {
    const scope = { algorithm: 'v4a', service: 's3', region: '*', date: DATE } as const;
    const signature = new Signer().signature(CREDENTIALS, scope, 'canonical');
    const signed = Buffer.from(stringToSign(scope, 'canonical'));
    const key = createPublicKey(deriveKeyPair(CREDENTIALS));
    assert.ok(verify('sha256', signed, key, Buffer.from(signature, 'hex')));
  });
});

describe('the canonical form', () => {
  const PATHS: readonly (readonly [service: string, path: string, canonical: string])[] = [
    ['lambda', '', '/'],
    ['lambda', '//', '/'],
    ['lambda', '/a/../b/./c', '/b/c'],
    ['lambda', '/..', '/'],
    ['lambda', '/a//b/', '/a/b/'],
    ['lambda', '/a%20b', '/a%2520b'],
    ['lambda', "/*'()!", '/%2A%27%28%29%21'],
    ['s3', '/a/../b', '/a/../b'],
    ['s3', '/a%2fb', '/a%2fb'],
    ['s3', '/%zz+', '/%zz%2B'],
  ];
  for (const [service, path, canonical] of PATHS) {
    it(`of the path '${path}' for ${service}`, () => {
      assert.equal(canonicalPath(path, pathStyleOf(service)), canonical);
    });
  }

  const QUERIES: readonly (readonly [query: string, canonical: string])[] = [
    ['b=2&a=1&a=0', 'a=0&a=1&b=2'],
    ['q=%20+', 'q=%20%20'],
    ['q=%2B&Q', 'Q=&q=%2B'],
    ['a=%&b=%zz', 'a=%25&b=%25zz'],
    ['q=a=b==', 'q=a%3Db%3D%3D'],
    ['&&a=1&', 'a=1'],
    ['%61=%7e', 'a=~'],
  ];
  for (const [query, canonical] of QUERIES) {
    it(`of the query '${query}'`, () => assert.equal(canonicalQuery(query), canonical));
  }

  it('joins values of one name and leaves out empty ones', () => {
    const headers: readonly HeaderPair[] = [
      ['x-b', ' a   b '],
      ['x-b', 'c\t d'],
      ['x-empty', ''],
      ['host', 'h'],
    ];
    const request = { method: 'GET', path: '/', headers };
    const { text, signedHeaders } = canonicalRequest(request, 'HASH', pathStyleOf('s3'));
    assert.equal(signedHeaders, 'host;x-b');
    assert.equal(text, 'GET\n/\n\nhost:h\nx-b:a b,c d\n\nhost;x-b\nHASH');
  });
});
