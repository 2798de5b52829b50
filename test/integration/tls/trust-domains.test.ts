/** SPIFFE: members of trust domains, each vouched for by the authorities of its own domain. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { X509Certificate } from 'node:crypto';
import { bootstrap, GREETING } from '../../support/parts/bootstrap.ts';
import { makeAuthority, type TestCertificate } from '../../support/parts/certificates.ts';
import {
  askSecurely,
  certificateFiles,
  secureListener,
  tlsSocket,
} from '../../support/parts/tls.ts';
import { makeScratch, type Scratch } from '../../support/scratch.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const API = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3';

function validated(own: TestCertificate, config: object): object {
  return secureListener(
    GREETING,
    tlsSocket('Downstream', {
      common_tls_context: {
        tls_certificates: [certificateFiles(own)],
        validation_context: {
          custom_validator_config: {
            name: 'envoy.tls.cert_validator.spiffe',
            typed_config: { '@type': `${API}.SPIFFECertValidatorConfig`, ...config },
          },
        },
      },
    }),
  );
}

function parties(scratch: Scratch) {
  const east = makeAuthority(scratch.path, 'east');
  const west = makeAuthority(scratch.path, 'west');
  return {
    east,
    west,
    refused: {
      'of another domain': west.issue('posing', 'URI:spiffe://east.test/web'),
      'of a domain that is not trusted': east.issue('north', 'URI:spiffe://north.test/web'),
      'without an identity': east.issue('plain', 'DNS:east.test'),
      'an authority itself': east,
      'named after the beginning of a domain': east.issue('short', 'URI:spiffe://east/web'),
    },
    served: [
      east.issue('one', 'URI:spiffe://east.test/web'),
      west.issue('two', 'URI:spiffe://west.test/web'),
    ],
  };
}

async function served(config: object, all: ReturnType<typeof parties>): Promise<void> {
  const listeners = [validated(all.east.issue('server', 'DNS:server.test'), config)];
  await using sluice = await startSluice({ bootstrap: bootstrap({ listeners }) });
  const port = await sluice.listenerPort('web');
  for (const { cert, key } of all.served) {
    assert.match((await askSecurely(port, { cert, key })).text, / 200 /);
  }
  for (const [name, { cert, key }] of Object.entries(all.refused)) {
    assert.equal((await askSecurely(port, { cert, key })).text, '', name);
  }
  assert.equal((await askSecurely(port)).text, '', 'without a certificate');
  const counted = await sluice.stats('filter=fail_verify_error');
  assert.match(counted, new RegExp(`: ${Object.keys(all.refused).length}\n`));
}

describe('trust domains', () => {
  it('let in members whom an authority of their own domain vouches for', async () => {
    using scratch = makeScratch();
    const all = parties(scratch);
    const domain = (name: string, { certPath }: TestCertificate): object => ({
      name: `${name}.test`,
      trust_bundle: { filename: certPath },
    });
    const trust_domains = [domain('east', all.east), domain('west', all.west)];
    await served({ trust_domains }, all);
  });

  it('come as a map of bundles too', async () => {
    using scratch = makeScratch();
    const all = parties(scratch);
    const keysOf = ({ certPath }: TestCertificate): object => {
      const x5c = [new X509Certificate(readFileSync(certPath)).raw.toString('base64')];
      return { keys: [{ use: 'x509-svid', kty: 'EC', x5c }] };
    };
    const trust_domains = { 'east.test': keysOf(all.east), 'west.test': keysOf(all.west) };
    await served({ trust_bundles: { inline_string: JSON.stringify({ trust_domains }) } }, all);
  });
});
