/** Where filters look up what is known of a client's address, and the stats of that. */
import { defineTemplate } from '../../../stats/template.ts';
import { counter, ownGauge } from '../../../stats/templates/spec.ts';

export const GEO_DATABASES = ['city', 'isp', 'anon', 'asn', 'country'] as const;
export type GeoDatabaseKind = (typeof GEO_DATABASES)[number];

export const GEO_FACTS = [
  'country',
  'city',
  'region',
  'asn',
  'asn_org',
  'anon',
  'anon_vpn',
  'anon_hosting',
  'anon_tor',
  'anon_proxy',
  'isp',
  'apple_private_relay',
] as const;
export type GeoFact = (typeof GEO_FACTS)[number];

/** Databases of MaxMind's format. */
export interface GeoProvider {
  readonly databases: readonly { readonly kind: GeoDatabaseKind; readonly path: string }[];
  /** What is asked for, and the header or field that it goes to. */
  readonly names: readonly { readonly fact: GeoFact; readonly name: string }[];
}

/** Prefix: that of the filter and `maxmind.<kind>_db.`; each exists once it has counted something. */
export const GEO_LOOKUPS = defineTemplate('geo_lookups', {
  total: counter('Addresses looked up'),
});
export const GEO_HITS = defineTemplate('geo_hits', {
  hit: counter('Addresses of which something was known'),
});
export const GEO_MISSES = defineTemplate('geo_misses', {
  lookup_error: counter('Addresses that the database does not have'),
});

/** Prefix: `maxmind.<kind>_db.<path>.` */
export const GEO_DATABASE = defineTemplate('geo_database', {
  db_reload_success: counter('Times that a changed file was taken into use'),
  db_reload_error: counter('Changed files that could not be read: the earlier content stays'),
  db_build_epoch: ownGauge('When the database was made; seconds since 1970'),
});

/** Prefix: that of the filter and `geoip.`; exists once it has counted something. */
export const GEOIP = defineTemplate('geoip', {
  total: counter('Clients that were looked up'),
});

export const GEO_TEMPLATES = [GEOIP, GEO_LOOKUPS, GEO_HITS, GEO_MISSES, GEO_DATABASE] as const;
