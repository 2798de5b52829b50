import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { helloBody } from '../../../../workers/tls/client-hello.ts';
import { ja3Of, ja4Of, readOffer } from '../../../../workers/tls/fingerprints.ts';

/** Two clients' first bytes, of TLS 1.2 without a name and of TLS 1.3 with one. */
const OLDER =
  '16030100830100007f030367485c9a84221f4f2f615e3ee732f45e89452d2fe3afb9e9633cb2a6b6' +
  'e9526b000004c02f00ff01000052000b000403000102000a000c000a001d0017001e001900180023' +
  '00000016000000170000000d002a0028040305030603080708080809080a080b0804080508060401' +
  '05010601030303010302040205020602';
const NEWER =
  '16030101090100010503030fdc3a3a351de6bb2a0a1b6450842cfe6a1d8426e8098e83474dbb2eaa' +
  '63204a2089355317432c8c99f6dd305a74805fbeb20d1c34a05f7bb2a47ecb460867b0bf00081302' +
  '1303130100ff010000b4000000080006000003612e62000b000403000102000a0004000200170023' +
  '00000010000e000c027a7a08687474702f312e310016000000170000000d001e001c040305030603' +
  '080708080809080a080b080408050806040105010601002b0003020304002d000201010033004700' +
  '4500170041041d688f29e0aaddc52b0a27a6aa8a26414b1a16c83d72f0df06a710c2a685bd965d8a' +
  'cd936a1474c17b47a010360c8302e8d7297665c69a0a2508d44fee4153fd';

function fingerprints(hex: string): readonly (string | undefined)[] {
  const body = helloBody(Buffer.from(hex, 'hex'));
  if (body === undefined) return [];
  const offer = readOffer(body);
  return [ja3Of(offer), ja4Of(offer)];
}

describe('fingerprints of TLS clients', () => {
  it("are Envoy's for the same bytes", () => {
    assert.deepEqual(fingerprints(OLDER), [
      'a4d4d6b97e8699a7c441f0e5f8df7914',
      't12i020600_b06afd972a5c_e7e480e5a997',
    ]);
    assert.deepEqual(fingerprints(NEWER), [
      '06c53ca37444b67c3e0d925532c00a9c',
      't13d0411zz_16476d049b0b_78f1d400d464',
    ]);
  });

  it('of odd protocol names show the outer hexadecimal digits', () => {
    const odd = NEWER.replace('027a7a', '020162');
    assert.match(fingerprints(odd)[1] ?? '', /^t13d041102_/);
  });

  it('leave out what clients make up', () => {
    const greased = OLDER.replace('c02f00ff', '1a1a00ff');
    assert.match(fingerprints(greased)[1] ?? '', /^t12i0106/);
  });

  it('of a message that is not whole are none', () => {
    assert.deepEqual(fingerprints(OLDER.slice(0, -2)), []);
  });

  it('are made of any bytes without an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const offer = readOffer(Buffer.from(bytes));
        assert.match(ja3Of(offer), /^[0-9a-f]{32}$/);
        assert.match(ja4Of(offer), /^t\d\d[di]\d{4}\w\w_[0-9a-f]{12}_[0-9a-f]{12}$/);
      }),
    );
  });
});
