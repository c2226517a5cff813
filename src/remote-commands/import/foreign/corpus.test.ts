import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { parse } from 'yaml';

import { fromCaddyfile } from './caddyfile.ts';
import { fromKong } from './kong.ts';

/**
 * Files as people have them. A line that is not taken over ends with `# LEFT:` and words of the reason; several are divided
 * by `|`. Whatever is not marked is taken over, or belongs to a site or route that is left out whole.
 */
interface Sample {
  readonly name: string;
  readonly text: string;
  /** `host path`, with what stands behind it. */
  readonly routes: Readonly<Record<string, Route>>;
}

interface Route {
  /** Undefined for a redirect. */
  readonly to?: string;
  readonly tls?: true;
  /** How several addresses are chosen and watched. */
  readonly settings?: object;
  readonly modules?: object;
}

interface Configuration {
  readonly ip_policies?: Readonly<Record<string, { readonly rules: readonly string[] }>>;
  readonly static_backends?: Readonly<
    Record<
      string,
      { readonly address?: string; readonly addresses?: readonly { readonly address: string }[]; readonly tls?: object }
    >
  >;
  readonly https_edges?: Readonly<
    Record<
      string,
      {
        readonly hostports: readonly string[];
        readonly routes: Readonly<Record<string, { readonly backend?: { readonly backend: string } }>>;
      }
    >
  >;
}

const apiPool = {
  balance: { by: 'least_connections' },
  active_check: {
    failures: 1,
    passes: 1,
    path: '/healthz',
    interval_seconds: 90,
    statuses: ['200-299'],
    timeout_seconds: 5,
  },
  passive_check: { failures: 1, down_seconds: 30, statuses: ['500-599', '429'] },
};
const shopPool = {
  balance: { by: 'least_connections' },
  retries: 3,
  active_check: { path: '/healthz', interval_seconds: 5, timeout_seconds: 1, failures: 2 },
};

function expectedNotes(text: string): readonly (readonly [number, string])[] {
  return text.split('\n').flatMap((line, at) => {
    const [, words] = /# LEFT: (.*)$/.exec(line) ?? [];
    return words === undefined ? [] : words.split(' | ').map((each) => [at + 1, each] as const);
  });
}

function check({ text, routes }: Sample, convert: typeof fromCaddyfile): void {
  const draft = convert(text, 'the sample');
  const notes = draft.notTaken();
  const expected = expectedNotes(text);
  for (const [line, words] of expected)
    assert.ok(
      notes.some((note) => note.startsWith(`line ${line}: `) && note.includes(words)),
      `line ${line} is not listed with "${words}":\n${notes.join('\n')}`,
    );
  for (const note of notes)
    assert.ok(
      expected.some(([line, words]) => note.startsWith(`line ${line}: `) && note.includes(words)),
      `this is listed, and should not be: ${note}`,
    );
  // The draft writes this form.
  const file = (parse(draft.toYaml('the sample')) ?? {}) as Configuration;
  const found = Object.values(file.https_edges ?? {}).flatMap((edge) =>
    Object.entries(edge.routes).map(([path, { backend, ...modules }]) => {
      const { address, addresses, tls, ...rest } = file.static_backends?.[backend?.backend ?? ''] ?? {};
      const to = address ?? addresses?.map((each) => each.address).join(' ');
      const settings = Object.keys(rest).length === 0 ? {} : { settings: rest };
      const shown = Object.keys(modules).length === 0 ? {} : { modules };
      return [
        `${edge.hostports.join(',').replace(':443', '')} ${path}`,
        { ...(to && { to }), ...(tls && { tls: true }), ...settings, ...shown },
      ];
    }),
  );
  assert.deepEqual(Object.fromEntries(found), routes);
}

const caddyfiles: readonly Sample[] = [
  {
    name: 'one site without braces',
    text: `
app.example.com

reverse_proxy localhost:5000
`,
    routes: { 'app.example.com /': { to: 'localhost:5000' } },
  },
  {
    name: 'global options, snippets, and an environment variable',
    text: `
{
	email ops@example.com                       # LEFT: global option email
	servers {                                   # LEFT: global option servers
		trusted_proxies static private_ranges
	}
}

(headers) {
	header {
		Strict-Transport-Security "max-age=31536000; includeSubDomains"
		X-Content-Type-Options nosniff
		-Server
		?Cache-Control "no-store"               # LEFT: header ?Cache-Control no-store: not mapped
	}
}

(common) {
	import headers
	encode zstd gzip
	log {                                       # LEFT: log: not mapped
		output file /var/log/caddy/access.log
	}
}

(unused) {                                      # LEFT: snippet (unused): no site imports it
	respond 404
}

app.example.com {
	import common
	reverse_proxy app:8080
}

{$SITE_ADDRESS} {                               # LEFT: an edge needs a host name
	reverse_proxy app:8081
}

with-arguments.example.com {
	import proxied app:8082                     # LEFT: no snippet of this file without arguments
}

(proxied) {
	reverse_proxy {args[0]}
}
`,
    routes: {
      'app.example.com /': {
        to: 'app:8080',
        modules: {
          response_headers: {
            add: {
              'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
              'X-Content-Type-Options': 'nosniff',
            },
            remove: ['Strict-Transport-Security', 'X-Content-Type-Options', 'Server'],
          },
          compression: {},
        },
      },
    },
  },
  {
    name: 'an API beside a single-page application, and files',
    text: `
shop.example.com,
www.shop.example.com {
	root * /srv/shop                            # LEFT: root * /srv/shop
	handle /api/* {
		reverse_proxy api-1:9000 api-2:9000 https://api-3 {   # LEFT: without the upstreams https://api-3
			lb_policy least_conn
			lb_try_duration 5s                  # LEFT: lb_try_duration 5s: not mapped
			health_uri /healthz
			health_interval 1m30s
			health_status 2xx
			fail_duration 30s
			unhealthy_status 5xx 429
			header_up X-Real-IP {remote_host}   # LEFT: header_up
		}
	}
	handle_path /old/* {
		reverse_proxy https://old.internal
	}
	handle {
		reverse_proxy {
			to web:3000
		}
	}
	handle_errors {                             # LEFT: handle_errors: not mapped
		respond "{err.status_code}"
	}
}
`,
    routes: {
      'shop.example.com /api': { to: 'api-1:9000 api-2:9000', settings: apiPool },
      'shop.example.com /old': {
        to: 'old.internal:443',
        tls: true,
        modules: { path_rewrite: { strip_prefix: '/old' } },
      },
      'shop.example.com /': { to: 'web:3000' },
      'www.shop.example.com /api': { to: 'api-1:9000 api-2:9000', settings: apiPool },
      'www.shop.example.com /old': {
        to: 'old.internal:443',
        tls: true,
        modules: { path_rewrite: { strip_prefix: '/old' } },
      },
      'www.shop.example.com /': { to: 'web:3000' },
    },
  },
  {
    name: 'sites whose guards have no counterpart',
    text: `
certificates.example.com {
	tls {                                       # LEFT: site certificates.example.com: tls { … }: a copy without it
		client_auth {
			mode require_and_verify
		}
	}
	reverse_proxy app:1
}
passwords.example.com {
	basic_auth {                                # LEFT: basic_auth { … }: a copy without it could let in more
		bob $2a$14$aaaa
	}
	reverse_proxy app:2
}
sso.example.com {
	forward_auth sso:9091 {                     # LEFT: forward_auth
		uri /verify
	}
	reverse_proxy app:3
}
lan.example.com {
	@outside not remote_ip 10.0.0.0/8           # LEFT: @outside not remote_ip
	abort @outside
	reverse_proxy app:4
}
redirected.example.com {
	redir /admin/* /login                       # LEFT: redir /admin/* /login
	reverse_proxy /admin/users/* app:5
}
rewritten.example.com {
	rewrite * /index.php?{query}                # LEFT: rewrite
	reverse_proxy app:6
}
exact.example.com {
	reverse_proxy /status app:7                 # LEFT: not a path of the form /api/*
}
sockets.example.com {
	reverse_proxy unix//run/app.sock            # LEFT: reverse_proxy unix//run/app.sock
}
conditional.example.com {
	request_header /x/* X-Trusted yes           # LEFT: request_header
	reverse_proxy app:9
}
`,
    routes: {},
  },
  {
    name: 'ports, plain HTTP, wildcards, and sites without a proxy',
    text: `
http://plain.example.com {                      # LEFT: served without TLS
	reverse_proxy app:1
}
:8080 {                                         # LEFT: an edge needs a host name
	reverse_proxy app:2
}
internal.example.com:8443 {                     # LEFT: an edge needs a host name
	reverse_proxy app:3
}
*.example.com {
	tls {                                       # LEFT: tls: not mapped
		dns cloudflare {env.CF_API_TOKEN}
	}
	encode {                                    # LEFT: compression has no options
		gzip 6
		minimum_length 1024
	}
	reverse_proxy [2001:db8::5]:8080
}
files.example.com {                             # LEFT: it has no reverse_proxy
	root * /srv/files
	file_server browse
}
old.example.com {
	redir https://new.example.com{uri} permanent
}
import sites/*                                  # LEFT: other files are not read
`,
    routes: {
      '*.example.com /': { to: '[2001:db8::5]:8080', modules: { compression: {} } },
      'old.example.com /': {
        modules: { redirect: { to: 'https://new.example.com', status_code: 301, keep_path: true } },
      },
    },
  },
  {
    name: 'redirects and prefixes',
    text: `
moved.example.com {
	redir /admin/* /login
	redir /docs/* https://docs.example.com 308
	handle /api/* {
		uri strip_prefix /api
		reverse_proxy api:1
	}
	reverse_proxy app:1
}
pages.example.com {
	redir /old /new
	redir /feed.xml https://feeds.example.com/all 301
	redir /docs/start /docs/begin
	redir /docs/* https://docs.example.com      # LEFT: redir /docs/* https://docs.example.com
	reverse_proxy app:1
}
exact.example.com {
	redir /old /new
	redir /feed https://feeds.example.com{uri} permanent
	handle /old/things/* {
		reverse_proxy things:1
	}
	reverse_proxy app:1
}
root.example.com {
	redir / /home                               # LEFT: redir / /home
	reverse_proxy app:1
}
twice.example.com {
	redir /old /new
	reverse_proxy /old/* app:1                  # LEFT: the path has a route already
}
every.example.com {
	redir https://new.example.com               # LEFT: redir https://new.example.com
	handle /api/* {
		reverse_proxy api:1
	}
}
filled.example.com {
	redir https://{host}.example.com{uri}       # LEFT: redir https://{host}.example.com{uri}
}
foreign.example.com {
	redir //other.example.com                   # LEFT: redir //other.example.com
}
stripped.example.com {
	handle_path /a/* {
		redir https://new.example.com{uri}      # LEFT: redir https://new.example.com{uri}
	}
}
replaced.example.com {
	uri replace /a /b                           # LEFT: uri replace /a /b
	reverse_proxy app:2
}
`,
    routes: {
      'moved.example.com /admin': { modules: { redirect: { to: '/login' } } },
      'moved.example.com /docs': { modules: { redirect: { to: 'https://docs.example.com', status_code: 308 } } },
      'moved.example.com /api': { to: 'api:1', modules: { path_rewrite: { strip_prefix: '/api' } } },
      'moved.example.com /': { to: 'app:1' },
      'exact.example.com /old': { modules: { match_type: 'exact_path', redirect: { to: '/new' } } },
      'exact.example.com /feed': {
        modules: {
          match_type: 'exact_path',
          redirect: { to: 'https://feeds.example.com', status_code: 301, keep_path: true },
        },
      },
      'exact.example.com /old/things': { to: 'things:1' },
      'exact.example.com /': { to: 'app:1' },
    },
  },
];

const kongFiles: readonly Sample[] = [
  {
    name: 'a service with its routes',
    text: `
_format_version: "3.0"
services:
  - name: shop
    url: http://shop.internal:8080
    routes:
      - name: shop
        hosts: [shop.example.com]
        paths: [/]
        strip_path: false
`,
    routes: { 'shop.example.com /': { to: 'shop.internal:8080' } },
  },
  {
    name: 'a dump with upstreams, timeouts, tags and all that hangs on them',
    text: `
_format_version: "3.0"
_info: { defaults: {}, select_tags: [team-a] }
upstreams:
  - name: shop-pool                             # LEFT: upstream shop-pool: host_header: not mapped
    host_header: shop.internal
    algorithm: least-connections
    healthchecks: { active: { http_path: /healthz, healthy: { interval: 5 }, unhealthy: { http_failures: 2 } } }
    targets:
      - { target: "10.0.0.1:80", weight: 0 }
      - { target: "10.0.0.2", weight: 100 }
      - { target: "10.0.0.3:81", weight: 100 }
  - name: idle-pool                             # LEFT: upstream idle-pool: no service has it
    targets: [{ target: "10.0.0.9:80" }]
services:
  - name: shop                                  # LEFT: service shop: connect_timeout: not mapped
    host: shop-pool
    protocol: http
    connect_timeout: 5000
    retries: 3
    tags: [team-a]
    routes:
      - name: cart                              # LEFT: preserve_host: not mapped
        hosts: [shop.example.com]
        paths: [/cart]
        preserve_host: true
  - name: nobody                                # LEFT: service nobody: no route leads to it
    url: http://nobody.internal
  - name: switched-off
    enabled: false
    url: http://off.internal
    routes:
      - { name: off, hosts: [off.example.com] } # LEFT: the service is not enabled
certificates:                                   # LEFT: section certificates
  - { cert: x, key: y }
vaults:                                         # LEFT: section vaults
  - { name: env, prefix: my }
`,
    routes: {
      'shop.example.com /cart': {
        to: '10.0.0.2:8000 10.0.0.3:81',
        settings: shopPool,
        modules: { path_rewrite: { strip_prefix: '/cart' } },
      },
    },
  },
  {
    name: 'plugins of the top that name their service or route',
    text: `
_format_version: "3.0"
_plugin_configs:
  office: { allow: [192.0.2.0/24] }
services:
  - { name: a, url: "http://a.internal", routes: [{ name: a, hosts: [a.example.com] }] }
  - { name: b, url: "https://b.internal", routes: [{ name: b, hosts: [b.example.com] }] }
  - { name: c, url: "http://c.internal", routes: [{ name: c, hosts: [c.example.com] }] } # LEFT: route c of service c: plugin key-auth
plugins:
  - { name: ip-restriction, service: a, _config: office }
  - { name: ip-restriction, service: { name: b }, config: { whitelist: [198.51.100.7], blacklist: [203.0.113.0/24] } }
  - { name: key-auth, route: c }
  - { name: rate-limiting, consumer: me, config: { minute: 5 } } # LEFT: plugin rate-limiting of a consumer
  - { name: prometheus, config: {} } # LEFT: a.example.com/: plugin prometheus is left out | b.example.com/: plugin prometheus
`,
    routes: {
      'a.example.com /': { to: 'a.internal:80', modules: { ip_restriction: { ip_policies: ['a-addresses'] } } },
      'b.example.com /': {
        to: 'b.internal:443',
        tls: true,
        modules: { ip_restriction: { ip_policies: ['b-addresses'] } },
      },
    },
  },
  {
    name: 'services with a path',
    text: `
_format_version: "3.0"
services:
  - name: orders
    url: https://api.internal/orders/v2/
    routes:
      - { name: all, hosts: [orders.example.com] }
      - { name: stripped, hosts: [api.example.com], paths: [/orders], path_handling: v0 }
      - { name: whole, hosts: [api.example.com], paths: [/whole], strip_path: false }
`,
    routes: {
      'orders.example.com /': {
        to: 'api.internal:443',
        tls: true,
        modules: { path_rewrite: { add_prefix: '/orders/v2' } },
      },
      'api.example.com /orders': {
        to: 'api.internal:443',
        tls: true,
        modules: { path_rewrite: { strip_prefix: '/orders', add_prefix: '/orders/v2' } },
      },
      'api.example.com /whole': {
        to: 'api.internal:443',
        tls: true,
        modules: { path_rewrite: { add_prefix: '/orders/v2' } },
      },
    },
  },
  {
    name: 'rate limits that mean the same, and others',
    text: `
_format_version: "3.0"
services:
  - name: api
    url: http://api.internal
    routes:
      - name: plain
        hosts: [plain.example.com]
        plugins: [{ name: rate-limiting, config: { minute: 5, policy: local } }] # LEFT: plain.example.com/: its rate limit slides
      - name: keyed
        hosts: [keyed.example.com]
        plugins: [{ name: rate-limiting, config: { hour: 100, limit_by: header, header_name: x-key } }] # LEFT: keyed.example.com/: its rate limit slides
      - name: two # LEFT: its rate-limiting has several limits
        hosts: [two.example.com]
        plugins: [{ name: rate-limiting, config: { minute: 5, hour: 100 } }]
      - name: path # LEFT: its rate-limiting has several limits, or counts by what is not known here
        hosts: [path.example.com]
        plugins: [{ name: rate-limiting, config: { minute: 5, limit_by: path } }]
`,
    routes: {
      'plain.example.com /': { to: 'api.internal:80', modules: { rate_limit: { limit: 5, window_seconds: 60 } } },
      'keyed.example.com /': {
        to: 'api.internal:80',
        modules: { rate_limit: { limit: 100, window_seconds: 3600, by: 'header', header: 'x-key' } },
      },
    },
  },
  {
    name: 'routes with conditions and plugins that have no counterpart',
    text: `
_format_version: "1.1"
services:
  - name: api
    url: http://api.internal
    routes:
      - { name: posts, hosts: [api.example.com], methods: [POST] } # LEFT: its condition methods
      - { name: canary, hosts: [api.example.com], headers: { x-canary: ["1"] } } # LEFT: its condition headers
      - { name: nets, hosts: [api.example.com], sources: [{ ip: 10.0.0.0/8 }] } # LEFT: its condition sources
      - { name: regex, hosts: [api.example.com], paths: ["~/v[0-9]+$"] } # LEFT: is no plain host name with a path
      - { name: old-regex, hosts: [api.example.com], paths: ["/v\\\\d+"] } # LEFT: is no plain host name with a path
      - { name: stream, protocols: [tcp], destinations: [{ port: 9000 }] } # LEFT: its condition destinations
      - { name: language, expression: 'http.path == "/"' } # LEFT: it has no host
      - { name: open, hosts: [api.example.com], plugins: [{ name: ip-restriction, config: {} }] } # LEFT: its ip-restriction has something else
      - { name: jwt, hosts: [api.example.com], plugins: [{ name: jwt }] } # LEFT: plugin jwt
      - { name: body, hosts: [api.example.com], plugins: [{ name: request-transformer, config: { add: { body: ["a:b"] } } }] } # LEFT: does more than add
  - name: prefixed
    url: http://api.internal/v2
    routes:
      - { name: v1, hosts: [v1.example.com], path_handling: v1 } # LEFT: its path_handling v1
  - name: odd
    host: api.internal
    path: /a//b
    routes:
      - { name: odd, hosts: [odd.example.com] } # LEFT: the service has the path /a//b
routes:
  - { name: lost, hosts: [lost.example.com], service: { name: gone } } # LEFT: it names no service of this file
`,
    routes: {},
  },
  {
    name: 'JSON, with headers and a disabled plugin',
    text: `{"_format_version":"3.0","services":[{"name":"web","host":"web.internal","port":8080,"plugins":[
{"name":"key-auth","enabled":false},
{"name":"response-transformer","config":{"add":{"headers":["x-frame-options:DENY"]},"remove":{"headers":["server"],"json":[]}}}],
"routes":[{"name":"web","hosts":["web.example.com"],"paths":["/"],"methods":null,"headers":null}]}]}`,
    routes: {
      'web.example.com /': {
        to: 'web.internal:8080',
        modules: { response_headers: { add: { 'x-frame-options': 'DENY' }, remove: ['server'] } },
      },
    },
  },
];

describe('Caddyfiles: everything is taken over, or listed with its line and the reason', () => {
  for (const sample of caddyfiles) test(sample.name, () => check(sample, fromCaddyfile));
});

test('a text between marks is one word, whatever stands in it, and lines behind it keep their numbers', () => {
  const text = 'a.example.com {\n\trespond <<HTML\n\t\t<p> } { </p>\n\t\tHTML 200\n}\n:80 {\n}\n';
  assert.deepEqual(fromCaddyfile(text, 'it').notTaken(), [
    'line 2: site a.example.com: respond <<HTML 200: a copy without it could let in more, or serve something else',
    'line 6: site :80: an edge needs a host name, and has the port of the gateway',
  ]);
});

describe('files of Kong: everything is taken over, or listed with its line and the reason', () => {
  for (const sample of kongFiles) test(sample.name, () => check(sample, fromKong));
});
