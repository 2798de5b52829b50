/**
 * First messages that Envoy 1.40.0 was given, and what it made of them: lists that are shorter or
 * longer than they say, none where some are due, values that clients make up.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { helloBody } from '../../../../workers/tls/client-hello.ts';
import { ja3Of, ja4Of, readOffer } from '../../../../workers/tls/fingerprints.ts';

/** `-` stands for the random bytes, `+` for an empty session's name. */
const RECORDED: readonly { readonly hello: string; readonly ja3: string; readonly ja4: string }[] =
  [
    {
      hello:
        '160303005a010000560304-000002b9b90100002b0000000700050000022d61000a000c000a17fa1a1adada5' +
        '16d4ab1000d0006000459e88a43001000020000',
      ja3: 'cb18c189c2c1d09ca0d619afecc3b4cf',
      ja4: 't13d010400_891d4ca1c924_44b07a989dc1',
    },
    {
      hello:
        '1603010068010000860301-2+0000a86e82d1cd92adada1df80100003300050003a0bd43000a000a00081a1a' +
        'b7ee16030100227c8260e0000b000100001000030000f10000000700050000022d61002300039b8542',
      ja3: '92d54b04b0f098cd632c9f5c541f6fb0',
      ja4: 't10d040600_2a148d8ef7ec_5f6de69cbacb',
    },
    {
      hello:
        '160301006f0100006b0303-0000085a5afe6181da0cae0100003a00170001fa00050000caca00033d4c13000' +
        'd000c000af54f51e74d01882fd91103d40006970477096bb5000a000c000a0b810c5ceaea0481dada',
      ja3: 'f0a2ef1b0a7ab3acefe8a70d2e4201f9',
      ja4: 't12i030500_35affe6e1d04_e400f967c6a6',
    },
    {
      hello:
        '1603010046010000420303-0000045c60caca01000015000b00020150baba0007080d8a2db21a51002b0000',
      ja3: '9fea45bfd19eecc9a42a1fa7f9b4368a',
      ja4: 't00i010200_c46298eae464_fdaab033dba4',
    },
    {
      hello:
        '160301001e0100007d0302070707070707070707070707070707070707070707070707160301006307070707' +
        '070707070000045f0feaea010000500010000d000c08687474702f312e31027ea52a0006e96b200b68cc0005' +
        '00043923d97e00230004ac6775870000000c000a000007312e322e332e34000d000c000a86640377bd2ebda8' +
        '9e9b002b000100',
      ja3: '80b482fb9daae6984c0df103f4187b83',
      ja4: 't11d0107h1_d122935fda55_a81438f77fa2',
    },
    {
      hello:
        '1603010064010000600303-00000a1e71c52dc6d399e6c99b0100002d000000070005000002612e001000070' +
        '0050268320161002b000808d063030003000300330007eeed30fb6862d7',
      ja3: 'ab1bb82a0110e47bf7498d6ba8b792d1',
      ja4: 't00d0504h2_1f3f9397de96_a56c5b993250',
    },
    {
      hello: '1603010064010000600303-2+000083e62d573fafa4e080100000f0033000211ec000d000500049e4575',
      ja3: '4edd50f2b474a1676bd0330af93802de',
      ja4: 't12i030200_267f33a6c12d_e19e11eb6d98',
    },
    {
      hello:
        '160303006f0100006b0303-0000045f284c7e0100003e002b0009084a4a030403026ff800050000000b00010' +
        '000100006000502207801000d00060004a274c3b5a6b7000670843885ba07fafa00061b6772f136e8',
      ja3: 'e537adc21138c13f93b21dd434528fab',
      ja4: 't00i020628_37b19d97ed67_0742aa66d295',
    },
  ];

describe('fingerprints of odd clients', () => {
  for (const { hello, ja3, ja4 } of RECORDED) {
    it(`are Envoy's: ${ja4}`, () => {
      const text = hello.replace('-', '07'.repeat(32)).replace('+', '00'.repeat(32));
      const body = helloBody(Buffer.from(text, 'hex'));
      assert.ok(body);
      const offer = readOffer(body);
      assert.deepEqual([ja3Of(offer), ja4Of(offer)], [ja3, ja4]);
    });
  }
});
