// Generated from openapi.json by `npm run generate`.

export interface ErrorBody {
  /** The number of the error behind a fixed word. */
  error_code: string;
  /** The HTTP status again. */
  status_code: number;
  /** The fault, the value that has it, and the remedy. */
  msg: string;
  /** More about this answer; every value is text. */
  details: {
    /** Names this call in the log of the server. */
    operation_id: string;
  };
}

/** A reference to another resource. */
export interface Ref {
  /** Resource identifier. */
  id: string;
  /** URI for locating the resource. */
  uri: string;
}

export interface IpRestrictionModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** Ids of all IP policies used to check whether a source IP may access the endpoint. At least one. */
  ip_policy_ids?: string[];
}

export interface IpRestrictionModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  /** All IP policies used to check whether a source IP may access the endpoint. */
  ip_policies: Ref[];
}

export interface BackendModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** Id of the backend that receives the traffic. Required. */
  backend_id?: string;
}

export interface BackendModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  backend: Ref;
}

export interface RequestHeadersModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** Header name to header value. These headers are injected into the HTTP request before it is sent to the upstream application server. */
  add?: Record<string, string>;
  /** Header names removed from the HTTP request before it is sent to the upstream application server. */
  remove?: string[];
}

export interface RequestHeadersModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  /** Header name to header value. These headers are injected into the HTTP request before it is sent to the upstream application server. */
  add: Record<string, string>;
  /** Header names removed from the HTTP request before it is sent to the upstream application server. */
  remove: string[];
}

export interface ResponseHeadersModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** Header name to header value. These headers are injected into the HTTP response before it is sent to the client. */
  add?: Record<string, string>;
  /** Header names removed from the HTTP response before it is sent to the client. */
  remove?: string[];
}

export interface ResponseHeadersModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  /** Header name to header value. These headers are injected into the HTTP response before it is sent to the client. */
  add: Record<string, string>;
  /** Header names removed from the HTTP response before it is sent to the client. */
  remove: string[];
}

/** Compresses responses for clients that accept it, by `Accept-Encoding`: Brotli, Zstandard or gzip. Only text-like bodies (text, JSON, scripts, XML, SVG, WebAssembly and the like) of 1 kB or more, or of unknown length. Responses that are encoded already, parts of a body, event streams, and those with `Cache-Control: no-transform` or a digest are left alone. The `ETag` of a compressed response becomes weak, and `Vary` names `Accept-Encoding`. Leave it off where a page shows both a secret and text that others can choose: the size of the answer would tell of the secret. */
export interface CompressionModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
}

export interface CompressionModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
}

export interface BotUser {
  /** Unique identifier of the bot. */
  id: string;
  /** URI of this bot's resource. */
  uri: string;
  /** Human-readable name, unique in the account. */
  name: string;
  /** false: its API keys are refused. */
  active: boolean;
  /** Creation time, RFC 3339. */
  created_at: string;
}

export interface BotUserCreate {
  /** Human-readable name, unique in the account. */
  name: string;
  /** false: its API keys are refused. */
  active?: boolean;
}

export interface BotUserUpdate {
  /** Human-readable name, unique in the account. */
  name?: string;
  /** false: its API keys are refused. */
  active?: boolean;
}

export interface ApiKey {
  /** Unique identifier of the API key. */
  id: string;
  /** URI of this key's resource. */
  uri: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Bearer token for the Authorization header. Present only in the response to creation and rotation; null in every other. */
  token: string | null;
  /** The User or Bot that owns the key. */
  owner_id: string;
  /** From this time on the key is refused; RFC 3339 in UTC. Absent: it does not expire. */
  expires_at?: string;
  /** Ids of the IP policies whose rules, all together, must allow the source of every call with the key. */
  ip_policy_ids?: string[];
  /** true: only GET is possible with the key. */
  read_only?: boolean;
  /** When the key was last used, RFC 3339, to the minute. Absent: never. */
  last_used_at?: string;
  /** When the key last got a new token, RFC 3339. */
  rotated_at?: string;
  /** Until when the token before the last rotation is valid, RFC 3339. Absent: it is not. */
  previous_token_expires_at?: string;
}

export interface ApiKeyCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** The User or Bot that owns the key. Defaults to the authenticated User or Bot; only admins may name another. */
  owner_id?: string;
  /** From this time on the key is refused; RFC 3339 in UTC. Absent: it does not expire. "" removes it. */
  expires_at?: string;
  /** Ids of the IP policies whose rules, all together, must allow the source of every call with the key. An empty list removes them. */
  ip_policy_ids?: string[];
  /** true: only GET is possible with the key. */
  read_only?: boolean;
}

export interface ApiKeyUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** From this time on the key is refused; RFC 3339 in UTC. Absent: it does not expire. "" removes it. */
  expires_at?: string;
  /** Ids of the IP policies whose rules, all together, must allow the source of every call with the key. An empty list removes them. */
  ip_policy_ids?: string[];
  /** true: only GET is possible with the key. */
  read_only?: boolean;
}

export interface ApiKeyRotate {
  /** How long the token in use until now stays valid beside the new one, 0 to 604800 seconds. 0, the default, ends it at once. */
  overlap_seconds?: number;
}

export interface Credential {
  /** Unique identifier of the credential. */
  id: string;
  /** URI of this credential's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Token with which agents sign in. Present only in the response to creation; null in every other. */
  token: string | null;
  /** Rules of what agents with this token may bind; an empty list allows everything. "bind:app.example.com" is one name, "bind:*.example.com" every name below it, "bind:tcp.example.com:10022" one address, "bind:app=shop" a label, in which "*" stands for any key or value. */
  acl: string[];
  /** The User or Bot that owns the credential. */
  owner_id: string;
}

export interface CredentialCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Rules of what agents with this token may bind; an empty list allows everything. "bind:app.example.com" is one name, "bind:*.example.com" every name below it, "bind:tcp.example.com:10022" one address, "bind:app=shop" a label, in which "*" stands for any key or value. */
  acl?: string[];
  /** The User or Bot that owns the credential. Defaults to the authenticated User or Bot; only admins may name another. */
  owner_id?: string;
}

export interface CredentialUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Rules of what agents with this token may bind; an empty list allows everything. "bind:app.example.com" is one name, "bind:*.example.com" every name below it, "bind:tcp.example.com:10022" one address, "bind:app=shop" a label, in which "*" stands for any key or value. */
  acl?: string[];
}

export interface IpPolicy {
  /** Unique identifier of the IP policy. */
  id: string;
  /** URI of this policy's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
}

export interface IpPolicyCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
}

export interface IpPolicyUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
}

/** An entry of ip_policies in a configuration. */
export interface IpPolicyEntry {
  /** Kind of the entry. */
  kind: 'ip_policies';
  /** Name of the entry, unique among those that are named alike: 1 to 100 letters, digits, ".", "_" and "-", the first of them a letter or digit. It is kept apart from the resource, whose fields it does not touch. */
  name: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** All rules that the policy has from now on. */
  rules?: (string | {
    cidr: string;
    /** Default allow. */
    action?: 'allow' | 'deny';
    /** Human-readable description. Optional, max 255 bytes. */
    description?: string;
    /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
    metadata?: string;
  })[];
}

export interface IpPolicyRule {
  /** Unique identifier of the rule. */
  id: string;
  /** URI of this rule's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** An address range with its mask, IPv4 or IPv6; the address is the first of the range. */
  cidr: string;
  ip_policy: Ref;
  /** Effect on addresses in the range. */
  action: 'allow' | 'deny';
}

export interface IpPolicyRuleCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** An address range with its mask, IPv4 or IPv6; the address is the first of the range. */
  cidr: string;
  /** Id of the IP policy that the rule belongs to. */
  ip_policy_id: string;
  /** Effect on addresses in the range. Fixed after creation. */
  action: 'allow' | 'deny';
}

export interface IpPolicyRuleUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** An address range with its mask, IPv4 or IPv6; the address is the first of the range. */
  cidr?: string;
}

export interface IpPolicyRulesReplaced {
  /** Rules that are new. */
  added: number;
  /** Rules that are gone. */
  removed: number;
  /** Rules that were there already; they keep their ids. */
  kept: number;
}

export interface RulesOfPolicy {
  /** Rules in the order of the text of their CIDRs; at most 2048 on a page. */
  rules: ({
    /** Unique identifier of the rule. */
    id: string;
    /** An address range with its mask. */
    cidr: string;
    /** Effect on addresses in the range. */
    action: 'allow' | 'deny';
    /** Creation time, RFC 3339. */
    created_at: string;
    /** Human-readable description. Optional, max 255 bytes. */
    description?: string;
    /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
    metadata?: string;
  })[];
  /** How many rules of each action the policy has, whatever the filter. On the first page only. */
  totals?: {
    /** Rules that allow. */
    allow: number;
    /** Rules that deny. */
    deny: number;
  };
  /** URI of this list, with the query that made it a part. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface IpRestriction {
  /** Unique identifier. */
  id: string;
  /** URI of this restriction's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** true: enforced. false: only warnings are issued. */
  enforced: boolean;
  /** Traffic that the attached policies restrict. */
  type: 'dashboard' | 'api' | 'agent' | 'endpoints';
  /** The IP policies that enforce the restriction. */
  ip_policies: Ref[];
}

export interface IpRestrictionCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** true: enforced. false: only warnings are issued. */
  enforced?: boolean;
  /** Traffic that the attached policies restrict. */
  type: 'dashboard' | 'api' | 'agent' | 'endpoints';
  /** Ids of the IP policies that enforce the restriction. */
  ip_policy_ids: string[];
}

export interface IpRestrictionUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** true: enforced. false: only warnings are issued. */
  enforced?: boolean;
  /** Ids of the IP policies that enforce the restriction. */
  ip_policy_ids?: string[];
}

/** An entry of ip_restrictions in a configuration. */
export interface IpRestrictionEntry {
  /** Kind of the entry. */
  kind: 'ip_restrictions';
  /** Name of the entry, unique among those that are named alike: 1 to 100 letters, digits, ".", "_" and "-", the first of them a letter or digit. It is kept apart from the resource, whose fields it does not touch. */
  name: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Traffic that the policies restrict. Fixed after creation. */
  type: 'dashboard' | 'api' | 'agent' | 'endpoints';
  /** true: enforced. false: only warnings are issued. */
  enforced?: boolean;
  /** Names of the IP policies. */
  ip_policies: string[];
}

export interface IpRestrictionWarnings {
  /** Seen last first; at most 1000. */
  warnings: {
    /** The address that would have been refused. */
    source: string;
    /** RFC 3339. */
    first_seen: string;
    /** RFC 3339. */
    last_seen: string;
    /** How often it came. */
    count: number;
  }[];
  /** How many addresses are known, and pass the filter if there is one; at most the newest 10,000 are kept. */
  total_sources: number;
  /** URI of this list. */
  uri: string;
}

export interface IpRestrictionWarningsSummary {
  /** The time that is looked at. */
  window: 'hour' | 'day' | 'week';
  /** When the first bucket begins: at least the whole window ago. RFC 3339. */
  from: string;
  /** Now. RFC 3339. */
  to: string;
  /** Since when the restriction only warns and its warnings are kept by time, RFC 3339; null while it is enforced. */
  collecting_since: string | null;
  /** Warnings in all buckets. */
  total_warned: number;
  /** Oldest first: of five minutes for an hour, else of an hour. The first and the last may be partly outside. */
  buckets: {
    /** When it begins. RFC 3339. */
    start: string;
    /** Warnings in it. */
    count: number;
  }[];
  /** Those that came most often first; at most 1000. */
  sources: ({
    /** The address that would have been refused. */
    ip: string;
    /** How often it came within the window. */
    count: number;
    /** When it was first seen, also before the window. RFC 3339. */
    first_at: string;
    /** When it was last seen. RFC 3339. */
    last_at: string;
    /** false: the rules have changed, and allow it now. */
    would_be_refused: boolean;
    /** refuse_on_purpose: somebody means it to be refused; null: nobody has decided. */
    decision: string | null;
    /** The User or Bot that decided. */
    decided_by: string | null;
    /** When it was decided, RFC 3339. */
    decided_at: string | null;
  })[];
  /** How many addresses came within the window, as far as they are told apart. */
  total_sources: number;
  /** true: more addresses came than are shown. */
  sources_truncated: boolean;
  /** URI of this summary. */
  uri: string;
}

export interface IpRestrictionDecision {
  /** The address it is about. */
  ip: string;
  /** refuse_on_purpose: the source is meant to be refused once the restriction is enforced. */
  decision: 'refuse_on_purpose';
  /** The User or Bot that decided. */
  decided_by: string;
  /** When, RFC 3339. */
  decided_at: string;
}

export interface IpRestrictionDecisionReplace {
  /** refuse_on_purpose: the source is meant to be refused once the restriction is enforced. */
  decision: 'refuse_on_purpose';
}

export interface StaticBackend {
  /** Unique identifier of the static backend. */
  id: string;
  /** URI of this backend's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where traffic is sent, as host:port. An IPv6 address stands in brackets. */
  address: string;
  /** How the address is spoken to. */
  tls: {
    /** true: traffic is sent to the address over TLS. false: as it is. */
    enabled: boolean;
  };
}

export interface StaticBackendCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where traffic is sent, as host:port. An IPv6 address stands in brackets. */
  address: string;
  /** How the address is spoken to. */
  tls?: {
    /** true: traffic is sent to the address over TLS. false: as it is. */
    enabled?: boolean;
  };
}

export interface StaticBackendUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where traffic is sent, as host:port. An IPv6 address stands in brackets. */
  address?: string;
  /** How the address is spoken to. */
  tls?: {
    /** true: traffic is sent to the address over TLS. false: as it is. */
    enabled?: boolean;
  };
}

/** An entry of static_backends in a configuration. */
export interface StaticBackendEntry {
  /** Kind of the entry. */
  kind: 'static_backends';
  /** Name of the entry, unique among those that are named alike: 1 to 100 letters, digits, ".", "_" and "-", the first of them a letter or digit. It is kept apart from the resource, whose fields it does not touch. */
  name: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where traffic is sent, as host:port. An IPv6 address stands in brackets. */
  address: string;
  /** How the address is spoken to. */
  tls?: {
    /** true: traffic is sent to the address over TLS. false: as it is. */
    enabled?: boolean;
  };
}

export interface TunnelGroupBackend {
  /** Unique identifier of the tunnel group backend. */
  id: string;
  /** URI of this backend's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Labels by name. A tunnel belongs to the group if it has all of them; further ones do no harm. */
  labels: Record<string, string>;
  /** The tunnels of the group that are online now. */
  tunnels: Ref[];
}

export interface TunnelGroupBackendCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Labels by name. A tunnel belongs to the group if it has all of them; further ones do no harm. */
  labels: Record<string, string>;
}

export interface TunnelGroupBackendUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Labels by name. A tunnel belongs to the group if it has all of them; further ones do no harm. */
  labels?: Record<string, string>;
}

/** An entry of tunnel_group_backends in a configuration. */
export interface TunnelGroupBackendEntry {
  /** Kind of the entry. */
  kind: 'tunnel_group_backends';
  /** Name of the entry, unique among those that are named alike: 1 to 100 letters, digits, ".", "_" and "-", the first of them a letter or digit. It is kept apart from the resource, whose fields it does not touch. */
  name: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Labels by name. A tunnel belongs to the group if it has all of them. */
  labels: Record<string, string>;
}

export interface TcpEdge {
  /** Unique identifier of the TCP edge. */
  id: string;
  /** URI of this edge's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where the edge is reached, as host:port; null when nowhere. */
  hostports: string[] | null;
  /** Backend module; null when it is not set. */
  backend: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    backend: Ref;
  } | null;
  /** IP Restriction module; null when it is not set. */
  ip_restriction: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** All IP policies used to check whether a source IP may access the endpoint. */
    ip_policies: Ref[];
  } | null;
  /** Not offered; always null. */
  policy: null;
  /** Not offered; always null. */
  traffic_policy: null;
  /** Ports that this process does not listen on. Absent: all are open, or other processes serve them. */
  unopened_ports?: {
    /** A port of the edge that nobody can connect to. */
    port: number;
    /** Why; a port that the system refused is tried again every few seconds. */
    reason: string;
  }[];
}

export interface TcpEdgeCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where the edge is reached, as host:port. The gateway listens on the port; a port belongs to one edge of the installation and must be among those set aside for TCP edges. */
  hostports?: string[];
  ip_restriction?: IpRestrictionModuleReplace;
  backend?: BackendModuleReplace;
}

/** `hostports` replaces the whole list. A module that is given replaces the old one whole. */
export interface TcpEdgeUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where the edge is reached, as host:port. The gateway listens on the port; a port belongs to one edge of the installation and must be among those set aside for TCP edges. */
  hostports?: string[];
  ip_restriction?: IpRestrictionModuleReplace;
  backend?: BackendModuleReplace;
}

/** An entry of tcp_edges in a configuration. */
export interface TcpEdgeEntry {
  /** Kind of the entry. */
  kind: 'tcp_edges';
  /** Name of the entry, unique among those that are named alike: 1 to 100 letters, digits, ".", "_" and "-", the first of them a letter or digit. It is kept apart from the resource, whose fields it does not touch. */
  name: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where the edge is reached, as host:port. */
  hostports?: string[];
  /** IP Restriction module. */
  ip_restriction?: {
    /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
    enabled?: boolean;
    /** Names of the IP policies. */
    ip_policies: string[];
  };
  /** Backend module. */
  backend?: {
    /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
    enabled?: boolean;
    /** Name of a backend. */
    backend: string;
  };
}

export interface HttpsEdge {
  /** Unique identifier of the HTTPS edge. */
  id: string;
  /** URI of this edge's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where the edge is reached, as hostname:port; null when nowhere. */
  hostports: string[] | null;
  /** Not offered; always null. */
  mutual_tls: null;
  /** Not offered; always null. */
  tls_termination: null;
  /** The routes of the edge, oldest first. */
  routes: HttpsEdgeRoute[];
}

export interface HttpsEdgeCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where the edge is reached, as hostname:port. The port is the one that the gateway serves HTTPS on. A host name belongs to one edge of the installation; its first label may be "*", which stands for any one label. */
  hostports?: string[];
}

/** `hostports` replaces the whole list. */
export interface HttpsEdgeUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where the edge is reached, as hostname:port. The port is the one that the gateway serves HTTPS on. A host name belongs to one edge of the installation; its first label may be "*", which stands for any one label. */
  hostports?: string[];
}

export interface HttpsEdgeRoute {
  /** Id of the edge that the route belongs to. */
  edge_id: string;
  /** Unique identifier of the route. */
  id: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** How requests are compared with the match: by the start of their path, or by all of it. An exact path wins over a prefix, and a longer prefix over a shorter one. */
  match_type: 'path_prefix' | 'exact_path';
  /** A path that starts with "/", max 1024 bytes, unique in the edge. A prefix covers whole segments: "/blog" matches "/blog", "/blog/" and "/blog/a", but not "/blogger". */
  match: string;
  /** URI of this route's resource. */
  uri: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Backend module; null when it is not set. */
  backend: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    backend: Ref;
  } | null;
  /** IP Restriction module; null when it is not set. */
  ip_restriction: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** All IP policies used to check whether a source IP may access the endpoint. */
    ip_policies: Ref[];
  } | null;
  /** Not offered; always null. */
  circuit_breaker: null;
  /** Compression module; null when it is not set. */
  compression: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
  } | null;
  /** Request Headers module; null when it is not set. */
  request_headers: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** Header name to header value. These headers are injected into the HTTP request before it is sent to the upstream application server. */
    add: Record<string, string>;
    /** Header names removed from the HTTP request before it is sent to the upstream application server. */
    remove: string[];
  } | null;
  /** Response Headers module; null when it is not set. */
  response_headers: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** Header name to header value. These headers are injected into the HTTP response before it is sent to the client. */
    add: Record<string, string>;
    /** Header names removed from the HTTP response before it is sent to the client. */
    remove: string[];
  } | null;
  /** Not offered; always null. */
  webhook_verification: null;
  /** Not offered; always null. */
  oauth: null;
  /** Not offered; always null. */
  saml: null;
  /** Not offered; always null. */
  oidc: null;
  /** Not offered; always null. */
  websocket_tcp_converter: null;
  /** Not offered; always null. */
  user_agent_filter: null;
  /** Not offered; always null. */
  policy: null;
  /** Not offered; always null. */
  traffic_policy: null;
}

export interface HttpsEdgeRouteCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** How requests are compared with the match: by the start of their path, or by all of it. An exact path wins over a prefix, and a longer prefix over a shorter one. */
  match_type: 'path_prefix' | 'exact_path';
  /** A path that starts with "/", max 1024 bytes, unique in the edge. A prefix covers whole segments: "/blog" matches "/blog", "/blog/" and "/blog/a", but not "/blogger". */
  match: string;
  ip_restriction?: IpRestrictionModuleReplace;
  backend?: BackendModuleReplace;
  request_headers?: RequestHeadersModuleReplace;
  response_headers?: ResponseHeadersModuleReplace;
  compression?: CompressionModuleReplace;
}

/** "" keeps the match, the match type, the description and the metadata, because an official client sends it with every update. A module that is given replaces the old one whole. */
export interface HttpsEdgeRouteUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** How requests are compared with the match: by the start of their path, or by all of it. An exact path wins over a prefix, and a longer prefix over a shorter one. */
  match_type?: 'path_prefix' | 'exact_path' | '';
  /** A path that starts with "/", max 1024 bytes, unique in the edge. A prefix covers whole segments: "/blog" matches "/blog", "/blog/" and "/blog/a", but not "/blogger". */
  match?: string;
  ip_restriction?: IpRestrictionModuleReplace;
  backend?: BackendModuleReplace;
  request_headers?: RequestHeadersModuleReplace;
  response_headers?: ResponseHeadersModuleReplace;
  compression?: CompressionModuleReplace;
}

/** An entry of https_edges in a configuration. */
export interface HttpsEdgeEntry {
  /** Kind of the entry. */
  kind: 'https_edges';
  /** Name of the entry, unique among those that are named alike: 1 to 100 letters, digits, ".", "_" and "-", the first of them a letter or digit. It is kept apart from the resource, whose fields it does not touch. */
  name: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where the edge is reached, as hostname:port. */
  hostports?: string[];
  /** Routes by their match, such as "/". */
  routes?: Record<string, {
    /** Human-readable description. Optional, max 255 bytes. */
    description?: string;
    /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
    metadata?: string;
    /** Whether the path is the start of those that match, or all of it. */
    match_type?: 'path_prefix' | 'exact_path';
    /** IP Restriction module. */
    ip_restriction?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
      /** Names of the IP policies. */
      ip_policies: string[];
    };
    /** Backend module. */
    backend?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
      /** Name of a backend. */
      backend: string;
    };
    /** Request Headers module. */
    request_headers?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
      /** Header name to header value. These headers are injected into the HTTP request before it is sent to the upstream application server. */
      add?: Record<string, string>;
      /** Header names removed from the HTTP request before it is sent to the upstream application server. */
      remove?: string[];
    };
    /** Response Headers module. */
    response_headers?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
      /** Header name to header value. These headers are injected into the HTTP response before it is sent to the client. */
      add?: Record<string, string>;
      /** Header names removed from the HTTP response before it is sent to the client. */
      remove?: string[];
    };
    /** Compression module. */
    compression?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
    };
  }>;
}

export interface TlsCertificate {
  /** Unique identifier of the TLS certificate. */
  id: string;
  /** URI of this certificate's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** The certificate and its chain in PEM, leaf first. Returned byte for byte. */
  certificate_pem: string;
  /** Common name of the subject; "" when it has none. */
  subject_common_name: string;
  /** Host names and addresses that the certificate is for. */
  subject_alternative_names: {
    /** Host names; one may start with "*.". */
    dns_names: string[];
    /** IP addresses. */
    ips: string[];
  };
  /** When the service issued it; null for a certificate that was uploaded. */
  issued_at: string | null;
  /** Valid from, RFC 3339. */
  not_before: string;
  /** Valid until, RFC 3339. */
  not_after: string;
  /** Uses that its key is for. */
  key_usages: string[];
  /** Uses that its key is for, in more detail. */
  extended_key_usages: string[];
  /** The kind of its private key. */
  private_key_type: 'rsa' | 'ecdsa' | 'ed25519';
  /** Common name of the issuer; "" when it has none. */
  issuer_common_name: string;
  /** Serial number in lower-case hexadecimal digits. */
  serial_number: string;
  /** Organization of the subject; "" when it has none. */
  subject_organization: string;
  /** Organizational unit of the subject; "" when it has none. */
  subject_organizational_unit: string;
  /** Locality of the subject; "" when it has none. */
  subject_locality: string;
  /** Province of the subject; "" when it has none. */
  subject_province: string;
  /** Country of the subject; "" when it has none. */
  subject_country: string;
}

export interface TlsCertificateCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** The certificate and its chain in PEM, leaf first. Returned byte for byte. */
  certificate_pem: string;
  /** The private key of the certificate in PEM, without a passphrase. It is never returned. */
  private_key_pem: string;
}

export interface TlsCertificateUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
}

export interface ReservedDomain {
  /** Unique identifier of the reserved domain. */
  id: string;
  /** URI of this domain's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** The host name; its first label may be "*". */
  domain: string;
  /** As it was given; nothing depends on it. */
  region: string;
  /** Always null: point the name at the address of this installation. */
  cname_target: null;
  /** The TLS certificate for the domain; null when none is named. */
  certificate: {
    /** Resource identifier. */
    id: string;
    /** URI for locating the resource. */
    uri: string;
  } | null;
  /** Set if a public authority issues the certificate; else null. */
  certificate_management_policy: {
    /** Always "letsencrypt". */
    authority: string;
    /** "ecdsa" or "rsa". */
    private_key_type: string;
  } | null;
  /** How far the authority is; null without certificate_management_policy. */
  certificate_management_status: {
    /** When the certificate is renewed, RFC 3339; null while there is none. */
    renews_at: string | null;
    /** The order that is under way or has failed; null when there is nothing to do. */
    provisioning_job: {
      /** Code of the last fault; null while there was none. */
      error_code: string | null;
      /** The state in words; after a fault those of the authority, and what to do. */
      msg: string;
      /** Start of the last attempt, RFC 3339. */
      started_at: string;
      /** Time of the next attempt, RFC 3339; null while one is under way. */
      retries_at: string | null;
    } | null;
  } | null;
  /** Always null: wildcards are proved by a program on the host. */
  acme_challenge_cname_target: string | null;
  /** Where the domain resolves to: always [{"value":"global"}]. */
  resolves_to: {
    /** A point of presence. */
    value: string;
  }[];
}

export interface ReservedDomainCreate {
  /** A host name that no other account of this installation can use from then on. Its first label may be "*", which stands for any one label. */
  domain: string;
  /** Kept, and without effect. */
  region?: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Id of the TLS certificate for the domain, which must be for its name and cannot be deleted while it is named. The gateway serves the best certificate of the account for a name, named here or not. */
  certificate_id?: string;
  /** Lets a public authority issue the certificate and renew it, in place of certificate_id. The installation must have GATEHOUSE_ACME=on, and the name must be public and lead to it. */
  certificate_management_policy?: {
    /** The authority: always "letsencrypt", which stands for the one that the installation is set up with. */
    authority?: 'letsencrypt';
    /** Kind of the private key: "ecdsa" (P-256), which is the default, or "rsa" (2048 bits). */
    private_key_type?: 'ecdsa' | 'rsa';
  };
  /** Where the domain resolves to: only [{"value":"global"}]. */
  resolves_to?: {
    /** A point of presence: only "global". */
    value: string;
  }[];
}

/** The domain itself cannot be changed. `DELETE /reserved_domains/{id}/certificate` takes the certificate away, `DELETE /reserved_domains/{id}/certificate_management_policy` the policy. Giving one of the two replaces the other. */
export interface ReservedDomainUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Id of the TLS certificate for the domain, which must be for its name and cannot be deleted while it is named. The gateway serves the best certificate of the account for a name, named here or not. */
  certificate_id?: string;
  /** Lets a public authority issue the certificate and renew it, in place of certificate_id. The installation must have GATEHOUSE_ACME=on, and the name must be public and lead to it. */
  certificate_management_policy?: {
    /** The authority: always "letsencrypt", which stands for the one that the installation is set up with. */
    authority?: 'letsencrypt';
    /** Kind of the private key: "ecdsa" (P-256), which is the default, or "rsa" (2048 bits). */
    private_key_type?: 'ecdsa' | 'rsa';
  };
  /** Where the domain resolves to: only [{"value":"global"}]. */
  resolves_to?: {
    /** A point of presence: only "global". */
    value: string;
  }[];
}

/** An entry of reserved_domains in a configuration. */
export interface ReservedDomainEntry {
  /** Kind of the entry. */
  kind: 'reserved_domains';
  /** Name of the entry, unique among those that are named alike: 1 to 100 letters, digits, ".", "_" and "-", the first of them a letter or digit. It is kept apart from the resource, whose fields it does not touch. */
  name: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** A host name that no other account can use; its first label may be "*". Fixed after creation. */
  domain: string;
  /** Kept, and without effect. Fixed after creation. */
  region?: string;
  /** Name of a TLS certificate that was uploaded. */
  certificate?: string;
  /** In place of a certificate: a public authority issues it, for a private key of this kind. Needs GATEHOUSE_ACME=on. */
  certificate_management?: 'ecdsa' | 'rsa';
}

export interface Gateways {
  /** Those that started first come first. */
  gateways: {
    /** Unique identifier of the process, from its start to its end. */
    id: string;
    /** all, api or gateway. Absent: an older version runs there. */
    role?: string;
    /** Name of the machine; only admins are told. */
    host?: string;
    /** Version of the program. Absent: an older one runs there. */
    version?: string;
    /** When it started, RFC 3339. */
    started_at: string;
    /** When it last said how it is, RFC 3339; every ten seconds. */
    seen_at?: string;
    /** The version of the configuration that it obeyed at seen_at. */
    configuration_version?: number;
    /** How long the oldest change that it did not obey at seen_at had been stored by then, in whole seconds. Absent: it obeyed all changes, or those it did not came later. */
    lag_ms?: number;
    /** Where it listens; only admins are told. */
    listeners?: {
      /** api, https, http, tcp or agents. */
      kind: string;
      /** The address that it listens on. */
      address: string;
      /** 0 for tcp: the ports of all TCP edges. */
      port: number;
    }[];
    /** Ports of TCP edges of this account that it cannot open. */
    unopened_ports: {
      /** A port of a TCP edge of this account. */
      port: number;
      /** The edge, or the endpoint of an agent, that has it. */
      edge_id: string;
      /** Why it could not be opened; it is tried again every few seconds. */
      reason: string;
    }[];
    /** When it last found the database with another history than before, after a failover or a restore. It then goes by what the database has. Absent: never since it started. */
    history_change?: {
      /** When it was found, RFC 3339. */
      at: string;
      /** The newest version of the configuration that it had seen. */
      seen_version: number;
      /** The newest version that the database had. */
      version: number;
      /** Changes of this account that it had seen and that are gone; there may be more. */
      lost: {
        /** The version that the change had made. */
        version: number;
        /** Kind of the resource that was changed. */
        kind: string;
        /** Id of that resource. */
        id: string;
      }[];
    };
  }[];
  /** The newest version of the configuration. */
  configuration_version: number;
  /** URI of this list. */
  uri: string;
}

export interface ReservedAddr {
  /** Unique identifier of the reserved address. */
  id: string;
  /** URI of this address's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** The address, as host:port. It was assigned, and stays the same. */
  addr: string;
  /** As it was given, or the region of this installation; nothing depends on it. */
  region: string;
}

export interface ReservedAddrCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Kept, and without effect. */
  region?: string;
}

export interface ReservedAddrUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
}

/** An entry of reserved_addrs in a configuration. */
export interface ReservedAddrEntry {
  /** Kind of the entry. */
  kind: 'reserved_addrs';
  /** Name of the entry, unique among those that are named alike: 1 to 100 letters, digits, ".", "_" and "-", the first of them a letter or digit. It is kept apart from the resource, whose fields it does not touch. */
  name: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** The TCP port that no other account can use; its host is that of the installation. Fixed after creation. */
  port: number;
}

export interface TunnelSession {
  /** Unique identifier of the session. */
  id: string;
  /** URI of this session's resource. */
  uri: string;
  /** Version of the program that the agent is part of. */
  agent_version: string;
  credential: Ref;
  /** The address from which the agent is connected. */
  ip: string;
  /** As the agent gave it. */
  metadata: string;
  /** The system that the agent runs on. */
  os: string;
  /** The region of this installation. */
  region: string;
  /** When it was opened, RFC 3339. */
  started_at: string;
  /** The protocol of the agent. */
  transport: string;
}

export interface Tunnel {
  /** Unique identifier of the tunnel. */
  id: string;
  /** Where visitors reach it; absent for a tunnel of labels. */
  public_url?: string;
  /** When it was opened, RFC 3339. */
  started_at: string;
  /** As the agent gave it. */
  metadata: string;
  /** The protocol of its visitors; absent for a tunnel of labels. */
  proto?: 'http' | 'https' | 'tcp' | 'tls';
  /** The region of this installation. */
  region: string;
  tunnel_session: Ref;
  endpoint?: Ref;
  /** Its labels; absent for a tunnel with an endpoint. */
  labels?: Record<string, string>;
  /** The tunnel group backends that it belongs to by its labels. */
  backends?: Ref[];
  /** Where the agent takes the traffic to, as it says. */
  forwards_to: string;
}

/** A command has no options. */
export type TunnelSessionCommand = Record<string, never>;

export interface Endpoint {
  /** Unique identifier of the endpoint. */
  id: string;
  /** The region of this installation. */
  region: string;
  /** Since when it exists, RFC 3339. */
  created_at: string;
  /** The same, RFC 3339. */
  updated_at: string;
  /** ephemeral: of an agent. edge: of an edge. */
  type: 'ephemeral' | 'edge';
  /** The protocol of its visitors. */
  proto: 'http' | 'https' | 'tcp' | 'tls';
  /** The same. */
  scheme: string;
  /** Where visitors reach it, as host:port. */
  hostport: string;
  /** The host of it. */
  host: string;
  /** The port of it. */
  port: number;
  /** The same as a URL. */
  public_url: string;
  /** The same; absent for edges. */
  url?: string;
  /** As the agent gave it. */
  metadata?: string;
  /** As the agent gave it. */
  description?: string;
  /** As the agent gave it. */
  name?: string;
  edge?: Ref;
  tunnel?: Ref;
  tunnel_session?: Ref;
  /** Where the agent takes the traffic to, as it says. */
  upstream_url?: string;
  /** "http1", "http2" or "". */
  upstream_protocol?: string;
  /** Always "public". */
  bindings: string[];
  /** True if further agents may share the endpoint. */
  pooling_enabled: boolean;
}

export interface EndpointsPage {
  /** The entries of this page, newest first. */
  endpoints: Endpoint[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface TrafficHistory {
  /** false: this process serves the API only, and knows of no traffic. Each gateway counts its own. */
  carries_traffic: boolean;
  /** The last 60 minutes, oldest first; the last one is under way. */
  buckets: ({
    /** When the minute begins, RFC 3339. */
    start: string;
    /** HTTP requests that were answered. */
    requests: number;
    /** TCP connections that were opened or refused. */
    connections: number;
    /** Requests and connections that a rule has refused. */
    refused: number;
    /** Requests and connections that an IP restriction would have refused if it were enforced. */
    warned: number;
    /** Answers with a status of 500 or more, and connections that did not get to a backend. */
    errors: number;
    /** The time in which half of the requests were answered, in milliseconds, to a fifth; null without requests. */
    p50_ms: number | null;
    /** The time in which 99 of 100 of the requests were answered, in milliseconds, to a fifth; null without requests. */
    p99_ms: number | null;
  })[];
  /** The same hour by edge, the busiest first; at most 200 for each minute. */
  by_edge: {
    /** The edge, or the endpoint of an agent. */
    edge_id: string;
    /** HTTP requests that were answered. */
    requests: number;
    /** TCP connections that were opened or refused. */
    connections: number;
    /** Requests and connections that a rule has refused. */
    refused: number;
    /** Requests and connections that an IP restriction would have refused if it were enforced. */
    warned: number;
    /** Answers with a status of 500 or more, and connections that did not get to a backend. */
    errors: number;
  }[];
  /** URI of this history. */
  uri: string;
}

export interface TrafficEvent {
  /** Unique; that of a connection is the same when it is opened and when it is closed. */
  id: string;
  /** When it was noticed, RFC 3339. */
  at: string;
  /** Protocol of the edge or endpoint that it came by. */
  kind: 'https' | 'tcp';
  /** opened: a connection that goes on. closed: it is over; requests and refused connections come only so. */
  phase: 'opened' | 'closed';
  /** The edge, or the endpoint of an agent. */
  edge_id: string;
  /** The route of an HTTPS edge. */
  route_id?: string;
  /** Where it was sent to; the port alone for a TCP edge. */
  hostport: string;
  /** The address that it came from. */
  client_ip: string;
  /** The HTTP method. */
  method?: string;
  /** The path, without the query. */
  path?: string;
  /** The version of HTTP. */
  protocol?: string;
  /** The HTTP status of the answer; 499: the client left before it. */
  status?: number;
  /** Decision about it. */
  verdict: 'allowed' | 'refused' | 'warned';
  /** Number of the gateway's own error. */
  code?: number;
  /** The message of the gateway's own error, or why a connection ended. */
  reason?: string;
  /** The rule that decided, as the rules are now. Absent: none contains the address, or there are no rules. */
  rule?: {
    /** The IP policy. */
    policy_id: string;
    /** The rule in it. */
    rule_id: string;
    /** The network of the rule. */
    cidr: string;
    /** Effect of the rule. */
    action: 'allow' | 'deny';
  };
  /** The IP restriction that refused, or those that warned. */
  restrictions?: string[];
  /** How long it took. In milliseconds. */
  duration_ms?: number;
  /** The backend, or the endpoint of an agent, that it was for. */
  upstream?: string;
  /** From the request to the backend to the head of its answer. In milliseconds. */
  upstream_ms?: number;
  /** Bytes of a connection from the client. */
  bytes_in?: number;
  /** Bytes of a connection to the client. */
  bytes_out?: number;
  /** Names of headers that the route adds to requests. */
  headers_added?: string[];
  /** Names of headers that the route removes from requests. */
  headers_removed?: string[];
  /** Names of headers that the route adds to responses. */
  response_headers_added?: string[];
  /** Names of headers that the route removes from responses. */
  response_headers_removed?: string[];
}

export interface Change {
  /** Unique identifier of the change. */
  id: string;
  /** The version of the configuration that it made. */
  version: number;
  /** When, RFC 3339. */
  created_at: string;
  /** The User or Bot that made it, or "host" for the command line of the machine. */
  actor: string;
  /** The call that made it, as in the answer and the log of the server. */
  operation_id: string;
  /** Kind of the change. */
  action: 'create' | 'update' | 'delete';
  /** The kind of the resource. */
  kind: string;
  /** Id of the resource. */
  resource_id: string;
  /** The resource as it was, without secrets; null when it did not exist. */
  before: Record<string, unknown> | null;
  /** The resource as it was from then on, without secrets; null when it is gone. */
  after: Record<string, unknown> | null;
}

export interface ChangesPage {
  /** The entries of this page, newest first. */
  changes: Change[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

/** Give `ip` and one of the others. */
export interface IpCheckRequest {
  /** The address to try, IPv4 or IPv6. */
  ip: string;
  /** Try the IP restrictions of this type. */
  type?: 'dashboard' | 'api' | 'agent' | 'endpoints';
  /** Try traffic to this TCP or HTTPS edge. */
  edge_id?: string;
  /** Try traffic to this route of an HTTPS edge. */
  route_id?: string;
}

export interface IpCheckVerdict {
  /** The address in canonical form. */
  ip: string;
  /** Whether it is let through now. */
  allowed: boolean;
  /** Whether it would be let through if every restriction that only warns were enforced. */
  allowed_if_all_enforced: boolean;
  /** The verdict in words. */
  explanation: string;
  /** Everything that was consulted, in order. */
  checks: ({
    kind: 'ip_restriction' | 'module';
    /** Id of the restriction, or of the edge or route whose module it is. */
    id: string;
    /** warns: it would refuse but is not enforced. off: the module is disabled. */
    effect: 'allows' | 'refuses' | 'warns' | 'off';
    /** The IP policies that were consulted. */
    ip_policies: Ref[];
    /** The rule that decided; null when no rule matches, which refuses. */
    rule: {
      id: string;
      uri: string;
      cidr: string;
      action: 'allow' | 'deny';
      ip_policy: Ref;
    } | null;
    /** Why, in words. */
    reason: string;
  })[];
}

export interface ConfigurationFieldChange {
  /** The field, or the way to it: `routes./api.backend`. */
  field: string;
  /** Its value now; null where it is not set. Of rules, those that go. */
  before: unknown;
  /** Its value then; null where it is not set. Of rules, those that come. */
  after: unknown;
}

export interface ConfigurationStep {
  /** Kind of the change. */
  action: 'create' | 'change' | 'delete';
  /** Kind of the entry. */
  kind: string;
  /** Name of the entry. */
  name: string;
  /** Id of the resource; null for one that a dry run would create. */
  id: string | null;
  /** The fields that differ. */
  fields: ConfigurationFieldChange[];
}

export interface Quotas {
  /** Every quota, whether it is used or not. */
  quotas: {
    /** Name of the quota. */
    name: string;
    /** What counts. */
    description: string;
    /** How many the account may have. */
    limit: number;
    /** How many it has. */
    used: number;
  }[];
  /** URI of this list. */
  uri: string;
}

export interface BotUsersPage {
  /** The entries of this page, newest first. */
  bot_users: BotUser[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface ServiceUsersPage {
  /** The entries of this page, newest first. */
  service_users: BotUser[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface ApiKeysPage {
  /** The entries of this page, newest first. */
  keys: ApiKey[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface CredentialsPage {
  /** The entries of this page, newest first. */
  credentials: Credential[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface IpPoliciesPage {
  /** The entries of this page, newest first. */
  ip_policies: IpPolicy[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface IpPolicyRulesPage {
  /** The entries of this page, newest first. */
  ip_policy_rules: IpPolicyRule[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface IpRestrictionsPage {
  /** The entries of this page, newest first. */
  ip_restrictions: IpRestriction[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface StaticBackendsPage {
  /** The entries of this page, newest first. */
  backends: StaticBackend[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface TunnelGroupBackendsPage {
  /** The entries of this page, newest first. */
  backends: TunnelGroupBackend[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface TcpEdgesPage {
  /** The entries of this page, newest first. */
  tcp_edges: TcpEdge[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface HttpsEdgesPage {
  /** The entries of this page, newest first. */
  https_edges: HttpsEdge[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface HttpsEdgeRoutesPage {
  /** The entries of this page, newest first. */
  routes: HttpsEdgeRoute[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface TlsCertificatesPage {
  /** The entries of this page, newest first. */
  tls_certificates: TlsCertificate[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface ReservedDomainsPage {
  /** The entries of this page, newest first. */
  reserved_domains: ReservedDomain[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface ReservedAddrsPage {
  /** The entries of this page, newest first. */
  reserved_addrs: ReservedAddr[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface TunnelSessionsPage {
  /** The entries of this page, newest first. */
  tunnel_sessions: TunnelSession[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface TunnelsPage {
  /** The entries of this page, newest first. */
  tunnels: Tunnel[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface Configuration {
  /** Entries in any order; each has a kind, a name, and the fields of its kind. */
  entries: (IpPolicyEntry | IpRestrictionEntry | StaticBackendEntry | TunnelGroupBackendEntry | TcpEdgeEntry | HttpsEdgeEntry | ReservedDomainEntry | ReservedAddrEntry)[];
}

export interface ConfigurationApplied {
  /** true: nothing was changed. */
  dry_run: boolean;
  /** How many resources are new. */
  created: number;
  /** How many resources are changed. */
  changed: number;
  /** How many resources are gone. */
  deleted: number;
  /** How many declared entries were as they should be already. */
  unchanged: number;
  /** One for each of these resources. */
  steps: ConfigurationStep[];
}

/** Parameters, body and response of every operation. */
export interface Operations {
  /** Create bot user */
  BotUsersCreate: { path: {}; query: {}; body: BotUserCreate; response: BotUser };
  /** List bot users */
  BotUsersList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: BotUsersPage };
  /** Get bot user */
  BotUsersGet: { path: { id: string }; query: {}; body: undefined; response: BotUser };
  /** Update bot user */
  BotUsersUpdate: { path: { id: string }; query: {}; body: BotUserUpdate | undefined; response: BotUser };
  /** Delete bot user */
  BotUsersDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Create service user */
  ServiceUsersCreate: { path: {}; query: {}; body: BotUserCreate; response: BotUser };
  /** List service users */
  ServiceUsersList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: ServiceUsersPage };
  /** Get service user */
  ServiceUsersGet: { path: { id: string }; query: {}; body: undefined; response: BotUser };
  /** Update service user */
  ServiceUsersUpdate: { path: { id: string }; query: {}; body: BotUserUpdate | undefined; response: BotUser };
  /** Delete service user */
  ServiceUsersDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Create API key */
  ApiKeysCreate: { path: {}; query: {}; body: ApiKeyCreate | undefined; response: ApiKey };
  /** List API keys */
  ApiKeysList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: ApiKeysPage };
  /** Get API key */
  ApiKeysGet: { path: { id: string }; query: {}; body: undefined; response: ApiKey };
  /** Update API key */
  ApiKeysUpdate: { path: { id: string }; query: {}; body: ApiKeyUpdate | undefined; response: ApiKey };
  /** Delete API key */
  ApiKeysDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Give API key a new token */
  ApiKeysRotate: { path: { id: string }; query: {}; body: ApiKeyRotate | undefined; response: ApiKey };
  /** Create credential */
  CredentialsCreate: { path: {}; query: {}; body: CredentialCreate | undefined; response: Credential };
  /** List credentials */
  CredentialsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: CredentialsPage };
  /** Get credential */
  CredentialsGet: { path: { id: string }; query: {}; body: undefined; response: Credential };
  /** Update credential */
  CredentialsUpdate: { path: { id: string }; query: {}; body: CredentialUpdate | undefined; response: Credential };
  /** Delete credential */
  CredentialsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Create IP policy */
  IpPoliciesCreate: { path: {}; query: {}; body: IpPolicyCreate | undefined; response: IpPolicy };
  /** List IP policies */
  IpPoliciesList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: IpPoliciesPage };
  /** Get IP policy */
  IpPoliciesGet: { path: { id: string }; query: {}; body: undefined; response: IpPolicy };
  /** Update IP policy */
  IpPoliciesUpdate: { path: { id: string }; query: {}; body: IpPolicyUpdate | undefined; response: IpPolicy };
  /** Delete IP policy */
  IpPoliciesDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Create IP policy rule */
  IpPolicyRulesCreate: { path: {}; query: {}; body: IpPolicyRuleCreate; response: IpPolicyRule };
  /** List IP policy rules */
  IpPolicyRulesList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: IpPolicyRulesPage };
  /** Get IP policy rule */
  IpPolicyRulesGet: { path: { id: string }; query: {}; body: undefined; response: IpPolicyRule };
  /** Update IP policy rule */
  IpPolicyRulesUpdate: { path: { id: string }; query: {}; body: IpPolicyRuleUpdate | undefined; response: IpPolicyRule };
  /** Delete IP policy rule */
  IpPolicyRulesDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** List the rules of an IP policy */
  IpPolicyRulesOfPolicy: { path: { id: string }; query: { after?: string; filter?: string }; body: undefined; response: RulesOfPolicy };
  /** Replace all rules of an IP policy */
  IpPolicyRulesReplace: { path: { id: string }; query: {}; body: (string | {
      cidr: string;
      /** Default allow. */
      action?: 'allow' | 'deny';
      /** Human-readable description. Optional, max 255 bytes. */
      description?: string;
      /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
      metadata?: string;
    })[] | string; response: IpPolicyRulesReplaced };
  /** Create IP restriction */
  IpRestrictionsCreate: { path: {}; query: {}; body: IpRestrictionCreate; response: IpRestriction };
  /** List IP restrictions */
  IpRestrictionsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: IpRestrictionsPage };
  /** Get IP restriction */
  IpRestrictionsGet: { path: { id: string }; query: {}; body: undefined; response: IpRestriction };
  /** Update IP restriction */
  IpRestrictionsUpdate: { path: { id: string }; query: {}; body: IpRestrictionUpdate | undefined; response: IpRestriction };
  /** Delete IP restriction */
  IpRestrictionsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** List what an IP restriction has warned of */
  IpRestrictionWarningsList: { path: { id: string }; query: { filter?: string }; body: undefined; response: IpRestrictionWarnings };
  /** Sum up what an IP restriction has warned of */
  IpRestrictionWarningsSummary: { path: { id: string }; query: { window?: 'hour' | 'day' | 'week' }; body: undefined; response: IpRestrictionWarningsSummary };
  /** Decide about a source that an IP restriction would refuse */
  IpRestrictionDecisionsReplace: { path: { id: string; ip: string }; query: {}; body: IpRestrictionDecisionReplace; response: IpRestrictionDecision };
  /** Take back a decision about a source of an IP restriction */
  IpRestrictionDecisionsDelete: { path: { id: string; ip: string }; query: {}; body: undefined; response: undefined };
  /** Create static backend */
  StaticBackendsCreate: { path: {}; query: {}; body: StaticBackendCreate; response: StaticBackend };
  /** List static backends */
  StaticBackendsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: StaticBackendsPage };
  /** Get static backend */
  StaticBackendsGet: { path: { id: string }; query: {}; body: undefined; response: StaticBackend };
  /** Update static backend */
  StaticBackendsUpdate: { path: { id: string }; query: {}; body: StaticBackendUpdate | undefined; response: StaticBackend };
  /** Delete static backend */
  StaticBackendsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Create tunnel group backend */
  TunnelGroupBackendsCreate: { path: {}; query: {}; body: TunnelGroupBackendCreate; response: TunnelGroupBackend };
  /** List tunnel group backends */
  TunnelGroupBackendsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: TunnelGroupBackendsPage };
  /** Get tunnel group backend */
  TunnelGroupBackendsGet: { path: { id: string }; query: {}; body: undefined; response: TunnelGroupBackend };
  /** Update tunnel group backend */
  TunnelGroupBackendsUpdate: { path: { id: string }; query: {}; body: TunnelGroupBackendUpdate | undefined; response: TunnelGroupBackend };
  /** Delete tunnel group backend */
  TunnelGroupBackendsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Create TCP edge */
  TcpEdgesCreate: { path: {}; query: {}; body: TcpEdgeCreate | undefined; response: TcpEdge };
  /** List TCP edges */
  TcpEdgesList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: TcpEdgesPage };
  /** Get TCP edge */
  TcpEdgesGet: { path: { id: string }; query: {}; body: undefined; response: TcpEdge };
  /** Update TCP edge */
  TcpEdgesUpdate: { path: { id: string }; query: {}; body: TcpEdgeUpdate | undefined; response: TcpEdge };
  /** Delete TCP edge */
  TcpEdgesDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Replace TCP Edge IP Restriction Module */
  TcpEdgeIpRestrictionReplace: { path: { id: string }; query: {}; body: IpRestrictionModuleReplace | undefined; response: IpRestrictionModule };
  /** Get TCP Edge IP Restriction Module */
  TcpEdgeIpRestrictionGet: { path: { id: string }; query: {}; body: undefined; response: IpRestrictionModule };
  /** Delete TCP Edge IP Restriction Module */
  TcpEdgeIpRestrictionDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Replace TCP Edge Backend Module */
  TcpEdgeBackendReplace: { path: { id: string }; query: {}; body: BackendModuleReplace | undefined; response: BackendModule };
  /** Get TCP Edge Backend Module */
  TcpEdgeBackendGet: { path: { id: string }; query: {}; body: undefined; response: BackendModule };
  /** Delete TCP Edge Backend Module */
  TcpEdgeBackendDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Delete TCP Edge policy Module */
  TcpEdgePolicyDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Delete TCP Edge traffic_policy Module */
  TcpEdgeTrafficPolicyDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Create HTTPS edge */
  HttpsEdgesCreate: { path: {}; query: {}; body: HttpsEdgeCreate | undefined; response: HttpsEdge };
  /** List HTTPS edges */
  HttpsEdgesList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: HttpsEdgesPage };
  /** Get HTTPS edge */
  HttpsEdgesGet: { path: { id: string }; query: {}; body: undefined; response: HttpsEdge };
  /** Update HTTPS edge */
  HttpsEdgesUpdate: { path: { id: string }; query: {}; body: HttpsEdgeUpdate | undefined; response: HttpsEdge };
  /** Delete HTTPS edge */
  HttpsEdgesDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Delete HTTPS Edge mutual_tls Module */
  HttpsEdgeMutualTlsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Delete HTTPS Edge tls_termination Module */
  HttpsEdgeTlsTerminationDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Create HTTPS edge route */
  HttpsEdgeRoutesCreate: { path: { edge_id: string }; query: {}; body: HttpsEdgeRouteCreate; response: HttpsEdgeRoute };
  /** List HTTPS edge routes */
  HttpsEdgeRoutesList: { path: { edge_id: string }; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: HttpsEdgeRoutesPage };
  /** Get HTTPS edge route */
  HttpsEdgeRoutesGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: HttpsEdgeRoute };
  /** Update HTTPS edge route */
  HttpsEdgeRoutesUpdate: { path: { edge_id: string; id: string }; query: {}; body: HttpsEdgeRouteUpdate | undefined; response: HttpsEdgeRoute };
  /** Delete HTTPS edge route */
  HttpsEdgeRoutesDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route IP Restriction Module */
  HttpsEdgeRouteIpRestrictionReplace: { path: { edge_id: string; id: string }; query: {}; body: IpRestrictionModuleReplace | undefined; response: IpRestrictionModule };
  /** Get HTTPS Edge Route IP Restriction Module */
  HttpsEdgeRouteIpRestrictionGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: IpRestrictionModule };
  /** Delete HTTPS Edge Route IP Restriction Module */
  HttpsEdgeRouteIpRestrictionDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route Backend Module */
  HttpsEdgeRouteBackendReplace: { path: { edge_id: string; id: string }; query: {}; body: BackendModuleReplace | undefined; response: BackendModule };
  /** Get HTTPS Edge Route Backend Module */
  HttpsEdgeRouteBackendGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: BackendModule };
  /** Delete HTTPS Edge Route Backend Module */
  HttpsEdgeRouteBackendDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route Request Headers Module */
  HttpsEdgeRouteRequestHeadersReplace: { path: { edge_id: string; id: string }; query: {}; body: RequestHeadersModuleReplace | undefined; response: RequestHeadersModule };
  /** Get HTTPS Edge Route Request Headers Module */
  HttpsEdgeRouteRequestHeadersGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: RequestHeadersModule };
  /** Delete HTTPS Edge Route Request Headers Module */
  HttpsEdgeRouteRequestHeadersDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route Response Headers Module */
  HttpsEdgeRouteResponseHeadersReplace: { path: { edge_id: string; id: string }; query: {}; body: ResponseHeadersModuleReplace | undefined; response: ResponseHeadersModule };
  /** Get HTTPS Edge Route Response Headers Module */
  HttpsEdgeRouteResponseHeadersGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: ResponseHeadersModule };
  /** Delete HTTPS Edge Route Response Headers Module */
  HttpsEdgeRouteResponseHeadersDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route Compression Module */
  HttpsEdgeRouteCompressionReplace: { path: { edge_id: string; id: string }; query: {}; body: CompressionModuleReplace | undefined; response: CompressionModule };
  /** Get HTTPS Edge Route Compression Module */
  HttpsEdgeRouteCompressionGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: CompressionModule };
  /** Delete HTTPS Edge Route Compression Module */
  HttpsEdgeRouteCompressionDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Delete HTTPS Edge Route circuit_breaker Module */
  HttpsEdgeRouteCircuitBreakerDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Delete HTTPS Edge Route webhook_verification Module */
  HttpsEdgeRouteWebhookVerificationDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Delete HTTPS Edge Route oauth Module */
  HttpsEdgeRouteOauthDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Delete HTTPS Edge Route saml Module */
  HttpsEdgeRouteSamlDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Delete HTTPS Edge Route oidc Module */
  HttpsEdgeRouteOidcDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Delete HTTPS Edge Route websocket_tcp_converter Module */
  HttpsEdgeRouteWebsocketTcpConverterDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Delete HTTPS Edge Route user_agent_filter Module */
  HttpsEdgeRouteUserAgentFilterDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Delete HTTPS Edge Route policy Module */
  HttpsEdgeRoutePolicyDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Delete HTTPS Edge Route traffic_policy Module */
  HttpsEdgeRouteTrafficPolicyDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Create TLS certificate */
  TlsCertificatesCreate: { path: {}; query: {}; body: TlsCertificateCreate; response: TlsCertificate };
  /** List TLS certificates */
  TlsCertificatesList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: TlsCertificatesPage };
  /** Get TLS certificate */
  TlsCertificatesGet: { path: { id: string }; query: {}; body: undefined; response: TlsCertificate };
  /** Update TLS certificate */
  TlsCertificatesUpdate: { path: { id: string }; query: {}; body: TlsCertificateUpdate | undefined; response: TlsCertificate };
  /** Delete TLS certificate */
  TlsCertificatesDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Create reserved domain */
  ReservedDomainsCreate: { path: {}; query: {}; body: ReservedDomainCreate; response: ReservedDomain };
  /** List reserved domains */
  ReservedDomainsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: ReservedDomainsPage };
  /** Get reserved domain */
  ReservedDomainsGet: { path: { id: string }; query: {}; body: undefined; response: ReservedDomain };
  /** Update reserved domain */
  ReservedDomainsUpdate: { path: { id: string }; query: {}; body: ReservedDomainUpdate | undefined; response: ReservedDomain };
  /** Delete reserved domain */
  ReservedDomainsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Detach the TLS certificate of a reserved domain */
  ReservedDomainsDeleteCertificate: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Detach the certificate management policy of a reserved domain */
  ReservedDomainsDeleteCertificateManagementPolicy: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** List the processes of the installation */
  GatewaysList: { path: {}; query: {}; body: undefined; response: Gateways };
  /** Create reserved address */
  ReservedAddrsCreate: { path: {}; query: {}; body: ReservedAddrCreate | undefined; response: ReservedAddr };
  /** List reserved addresses */
  ReservedAddrsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: ReservedAddrsPage };
  /** Get reserved address */
  ReservedAddrsGet: { path: { id: string }; query: {}; body: undefined; response: ReservedAddr };
  /** Update reserved address */
  ReservedAddrsUpdate: { path: { id: string }; query: {}; body: ReservedAddrUpdate | undefined; response: ReservedAddr };
  /** Delete reserved address */
  ReservedAddrsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** List tunnel sessions */
  TunnelSessionsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: TunnelSessionsPage };
  /** Get tunnel session */
  TunnelSessionsGet: { path: { id: string }; query: {}; body: undefined; response: TunnelSession };
  /** Restart the agent of a session */
  TunnelSessionsRestart: { path: { id: string }; query: {}; body: TunnelSessionCommand | undefined; response: undefined };
  /** Stop the agent of a session */
  TunnelSessionsStop: { path: { id: string }; query: {}; body: TunnelSessionCommand | undefined; response: undefined };
  /** Update the agent of a session */
  TunnelSessionsUpdate: { path: { id: string }; query: {}; body: TunnelSessionCommand | undefined; response: undefined };
  /** List tunnels */
  TunnelsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: TunnelsPage };
  /** Get tunnel */
  TunnelsGet: { path: { id: string }; query: {}; body: undefined; response: Tunnel };
  /** List endpoints */
  EndpointsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: EndpointsPage };
  /** Get endpoint */
  EndpointsGet: { path: { id: string }; query: {}; body: undefined; response: Endpoint };
  /** Count the traffic of the last hour */
  TrafficHistory: { path: {}; query: {}; body: undefined; response: TrafficHistory };
  /** Watch traffic as it happens */
  TrafficEvents: { path: {}; query: {}; body: undefined; response: string };
  /** List changes */
  ChangesList: { path: {}; query: { limit?: number; before_id?: string; filter?: string; kind?: string; resource_id?: string; actor?: string; since?: string; until?: string }; body: undefined; response: ChangesPage };
  /** Explain what happens to an address */
  IpCheck: { path: {}; query: {}; body: IpCheckRequest; response: IpCheckVerdict };
  /** Get the configuration */
  ConfigurationGet: { path: {}; query: {}; body: undefined; response: Configuration };
  /** Make the configuration what the entries say */
  ConfigurationApply: { path: {}; query: { dry_run?: 'true' | 'false'; prune?: 'true' | 'false' }; body: (IpPolicyEntry | IpRestrictionEntry | StaticBackendEntry | TunnelGroupBackendEntry | TcpEdgeEntry | HttpsEdgeEntry | ReservedDomainEntry | ReservedAddrEntry)[]; response: ConfigurationApplied };
  /** List the quotas of the account */
  QuotasList: { path: {}; query: {}; body: undefined; response: Quotas };
  /** This document */
  OpenApi: { path: {}; query: {}; body: undefined; response: Record<string, unknown> };
  /** The JSON Schema of configuration files, for editors */
  ConfigurationSchema: { path: {}; query: {}; body: undefined; response: Record<string, unknown> };
  /** The process runs */
  Health: { path: {}; query: {}; body: undefined; response: Record<string, unknown> };
  /** The certificate that clients must trust for HTTPS edges without a certificate of their own */
  LocalCa: { path: {}; query: {}; body: undefined; response: string };
  /** The service can do its work */
  Readiness: { path: {}; query: {}; body: undefined; response: Record<string, unknown> };
}

export type OperationId = keyof Operations;

export interface OperationFacts {
  readonly method: string;
  readonly path: string;
  /** Names of the parameters that are sent in the query. */
  readonly query: readonly string[];
  /** Takes an Idempotency-Key. */
  readonly idempotencyKey: boolean;
  /** The field of a page that holds its entries. */
  readonly list?: string;
}

export const operations: { readonly [Id in OperationId]: OperationFacts } = {
  BotUsersCreate: { method: 'POST', path: '/bot_users', query: [], idempotencyKey: true },
  BotUsersList: { method: 'GET', path: '/bot_users', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'bot_users' },
  BotUsersGet: { method: 'GET', path: '/bot_users/{id}', query: [], idempotencyKey: false },
  BotUsersUpdate: { method: 'PATCH', path: '/bot_users/{id}', query: [], idempotencyKey: false },
  BotUsersDelete: { method: 'DELETE', path: '/bot_users/{id}', query: [], idempotencyKey: false },
  ServiceUsersCreate: { method: 'POST', path: '/service_users', query: [], idempotencyKey: true },
  ServiceUsersList: { method: 'GET', path: '/service_users', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'service_users' },
  ServiceUsersGet: { method: 'GET', path: '/service_users/{id}', query: [], idempotencyKey: false },
  ServiceUsersUpdate: { method: 'PATCH', path: '/service_users/{id}', query: [], idempotencyKey: false },
  ServiceUsersDelete: { method: 'DELETE', path: '/service_users/{id}', query: [], idempotencyKey: false },
  ApiKeysCreate: { method: 'POST', path: '/api_keys', query: [], idempotencyKey: true },
  ApiKeysList: { method: 'GET', path: '/api_keys', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'keys' },
  ApiKeysGet: { method: 'GET', path: '/api_keys/{id}', query: [], idempotencyKey: false },
  ApiKeysUpdate: { method: 'PATCH', path: '/api_keys/{id}', query: [], idempotencyKey: false },
  ApiKeysDelete: { method: 'DELETE', path: '/api_keys/{id}', query: [], idempotencyKey: false },
  ApiKeysRotate: { method: 'POST', path: '/api_keys/{id}/rotate', query: [], idempotencyKey: true },
  CredentialsCreate: { method: 'POST', path: '/credentials', query: [], idempotencyKey: true },
  CredentialsList: { method: 'GET', path: '/credentials', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'credentials' },
  CredentialsGet: { method: 'GET', path: '/credentials/{id}', query: [], idempotencyKey: false },
  CredentialsUpdate: { method: 'PATCH', path: '/credentials/{id}', query: [], idempotencyKey: false },
  CredentialsDelete: { method: 'DELETE', path: '/credentials/{id}', query: [], idempotencyKey: false },
  IpPoliciesCreate: { method: 'POST', path: '/ip_policies', query: [], idempotencyKey: true },
  IpPoliciesList: { method: 'GET', path: '/ip_policies', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'ip_policies' },
  IpPoliciesGet: { method: 'GET', path: '/ip_policies/{id}', query: [], idempotencyKey: false },
  IpPoliciesUpdate: { method: 'PATCH', path: '/ip_policies/{id}', query: [], idempotencyKey: false },
  IpPoliciesDelete: { method: 'DELETE', path: '/ip_policies/{id}', query: [], idempotencyKey: false },
  IpPolicyRulesCreate: { method: 'POST', path: '/ip_policy_rules', query: [], idempotencyKey: true },
  IpPolicyRulesList: { method: 'GET', path: '/ip_policy_rules', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'ip_policy_rules' },
  IpPolicyRulesGet: { method: 'GET', path: '/ip_policy_rules/{id}', query: [], idempotencyKey: false },
  IpPolicyRulesUpdate: { method: 'PATCH', path: '/ip_policy_rules/{id}', query: [], idempotencyKey: false },
  IpPolicyRulesDelete: { method: 'DELETE', path: '/ip_policy_rules/{id}', query: [], idempotencyKey: false },
  IpPolicyRulesOfPolicy: { method: 'GET', path: '/ip_policies/{id}/rules', query: ['after', 'filter'], idempotencyKey: false, list: 'rules' },
  IpPolicyRulesReplace: { method: 'PUT', path: '/ip_policies/{id}/rules', query: [], idempotencyKey: false },
  IpRestrictionsCreate: { method: 'POST', path: '/ip_restrictions', query: [], idempotencyKey: true },
  IpRestrictionsList: { method: 'GET', path: '/ip_restrictions', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'ip_restrictions' },
  IpRestrictionsGet: { method: 'GET', path: '/ip_restrictions/{id}', query: [], idempotencyKey: false },
  IpRestrictionsUpdate: { method: 'PATCH', path: '/ip_restrictions/{id}', query: [], idempotencyKey: false },
  IpRestrictionsDelete: { method: 'DELETE', path: '/ip_restrictions/{id}', query: [], idempotencyKey: false },
  IpRestrictionWarningsList: { method: 'GET', path: '/ip_restrictions/{id}/warnings', query: ['filter'], idempotencyKey: false },
  IpRestrictionWarningsSummary: { method: 'GET', path: '/ip_restrictions/{id}/warnings/summary', query: ['window'], idempotencyKey: false },
  IpRestrictionDecisionsReplace: { method: 'PUT', path: '/ip_restrictions/{id}/decisions/{ip}', query: [], idempotencyKey: false },
  IpRestrictionDecisionsDelete: { method: 'DELETE', path: '/ip_restrictions/{id}/decisions/{ip}', query: [], idempotencyKey: false },
  StaticBackendsCreate: { method: 'POST', path: '/backends/static', query: [], idempotencyKey: true },
  StaticBackendsList: { method: 'GET', path: '/backends/static', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'backends' },
  StaticBackendsGet: { method: 'GET', path: '/backends/static/{id}', query: [], idempotencyKey: false },
  StaticBackendsUpdate: { method: 'PATCH', path: '/backends/static/{id}', query: [], idempotencyKey: false },
  StaticBackendsDelete: { method: 'DELETE', path: '/backends/static/{id}', query: [], idempotencyKey: false },
  TunnelGroupBackendsCreate: { method: 'POST', path: '/backends/tunnel_group', query: [], idempotencyKey: true },
  TunnelGroupBackendsList: { method: 'GET', path: '/backends/tunnel_group', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'backends' },
  TunnelGroupBackendsGet: { method: 'GET', path: '/backends/tunnel_group/{id}', query: [], idempotencyKey: false },
  TunnelGroupBackendsUpdate: { method: 'PATCH', path: '/backends/tunnel_group/{id}', query: [], idempotencyKey: false },
  TunnelGroupBackendsDelete: { method: 'DELETE', path: '/backends/tunnel_group/{id}', query: [], idempotencyKey: false },
  TcpEdgesCreate: { method: 'POST', path: '/edges/tcp', query: [], idempotencyKey: true },
  TcpEdgesList: { method: 'GET', path: '/edges/tcp', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'tcp_edges' },
  TcpEdgesGet: { method: 'GET', path: '/edges/tcp/{id}', query: [], idempotencyKey: false },
  TcpEdgesUpdate: { method: 'PATCH', path: '/edges/tcp/{id}', query: [], idempotencyKey: false },
  TcpEdgesDelete: { method: 'DELETE', path: '/edges/tcp/{id}', query: [], idempotencyKey: false },
  TcpEdgeIpRestrictionReplace: { method: 'PUT', path: '/edges/tcp/{id}/ip_restriction', query: [], idempotencyKey: false },
  TcpEdgeIpRestrictionGet: { method: 'GET', path: '/edges/tcp/{id}/ip_restriction', query: [], idempotencyKey: false },
  TcpEdgeIpRestrictionDelete: { method: 'DELETE', path: '/edges/tcp/{id}/ip_restriction', query: [], idempotencyKey: false },
  TcpEdgeBackendReplace: { method: 'PUT', path: '/edges/tcp/{id}/backend', query: [], idempotencyKey: false },
  TcpEdgeBackendGet: { method: 'GET', path: '/edges/tcp/{id}/backend', query: [], idempotencyKey: false },
  TcpEdgeBackendDelete: { method: 'DELETE', path: '/edges/tcp/{id}/backend', query: [], idempotencyKey: false },
  TcpEdgePolicyDelete: { method: 'DELETE', path: '/edges/tcp/{id}/policy', query: [], idempotencyKey: false },
  TcpEdgeTrafficPolicyDelete: { method: 'DELETE', path: '/edges/tcp/{id}/traffic_policy', query: [], idempotencyKey: false },
  HttpsEdgesCreate: { method: 'POST', path: '/edges/https', query: [], idempotencyKey: true },
  HttpsEdgesList: { method: 'GET', path: '/edges/https', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'https_edges' },
  HttpsEdgesGet: { method: 'GET', path: '/edges/https/{id}', query: [], idempotencyKey: false },
  HttpsEdgesUpdate: { method: 'PATCH', path: '/edges/https/{id}', query: [], idempotencyKey: false },
  HttpsEdgesDelete: { method: 'DELETE', path: '/edges/https/{id}', query: [], idempotencyKey: false },
  HttpsEdgeMutualTlsDelete: { method: 'DELETE', path: '/edges/https/{id}/mutual_tls', query: [], idempotencyKey: false },
  HttpsEdgeTlsTerminationDelete: { method: 'DELETE', path: '/edges/https/{id}/tls_termination', query: [], idempotencyKey: false },
  HttpsEdgeRoutesCreate: { method: 'POST', path: '/edges/https/{edge_id}/routes', query: [], idempotencyKey: true },
  HttpsEdgeRoutesList: { method: 'GET', path: '/edges/https/{edge_id}/routes', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'routes' },
  HttpsEdgeRoutesGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}', query: [], idempotencyKey: false },
  HttpsEdgeRoutesUpdate: { method: 'PATCH', path: '/edges/https/{edge_id}/routes/{id}', query: [], idempotencyKey: false },
  HttpsEdgeRoutesDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}', query: [], idempotencyKey: false },
  HttpsEdgeRouteIpRestrictionReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/ip_restriction', query: [], idempotencyKey: false },
  HttpsEdgeRouteIpRestrictionGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/ip_restriction', query: [], idempotencyKey: false },
  HttpsEdgeRouteIpRestrictionDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/ip_restriction', query: [], idempotencyKey: false },
  HttpsEdgeRouteBackendReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/backend', query: [], idempotencyKey: false },
  HttpsEdgeRouteBackendGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/backend', query: [], idempotencyKey: false },
  HttpsEdgeRouteBackendDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/backend', query: [], idempotencyKey: false },
  HttpsEdgeRouteRequestHeadersReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/request_headers', query: [], idempotencyKey: false },
  HttpsEdgeRouteRequestHeadersGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/request_headers', query: [], idempotencyKey: false },
  HttpsEdgeRouteRequestHeadersDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/request_headers', query: [], idempotencyKey: false },
  HttpsEdgeRouteResponseHeadersReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/response_headers', query: [], idempotencyKey: false },
  HttpsEdgeRouteResponseHeadersGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/response_headers', query: [], idempotencyKey: false },
  HttpsEdgeRouteResponseHeadersDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/response_headers', query: [], idempotencyKey: false },
  HttpsEdgeRouteCompressionReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/compression', query: [], idempotencyKey: false },
  HttpsEdgeRouteCompressionGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/compression', query: [], idempotencyKey: false },
  HttpsEdgeRouteCompressionDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/compression', query: [], idempotencyKey: false },
  HttpsEdgeRouteCircuitBreakerDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/circuit_breaker', query: [], idempotencyKey: false },
  HttpsEdgeRouteWebhookVerificationDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/webhook_verification', query: [], idempotencyKey: false },
  HttpsEdgeRouteOauthDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/oauth', query: [], idempotencyKey: false },
  HttpsEdgeRouteSamlDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/saml', query: [], idempotencyKey: false },
  HttpsEdgeRouteOidcDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/oidc', query: [], idempotencyKey: false },
  HttpsEdgeRouteWebsocketTcpConverterDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/websocket_tcp_converter', query: [], idempotencyKey: false },
  HttpsEdgeRouteUserAgentFilterDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/user_agent_filter', query: [], idempotencyKey: false },
  HttpsEdgeRoutePolicyDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/policy', query: [], idempotencyKey: false },
  HttpsEdgeRouteTrafficPolicyDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/traffic_policy', query: [], idempotencyKey: false },
  TlsCertificatesCreate: { method: 'POST', path: '/tls_certificates', query: [], idempotencyKey: true },
  TlsCertificatesList: { method: 'GET', path: '/tls_certificates', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'tls_certificates' },
  TlsCertificatesGet: { method: 'GET', path: '/tls_certificates/{id}', query: [], idempotencyKey: false },
  TlsCertificatesUpdate: { method: 'PATCH', path: '/tls_certificates/{id}', query: [], idempotencyKey: false },
  TlsCertificatesDelete: { method: 'DELETE', path: '/tls_certificates/{id}', query: [], idempotencyKey: false },
  ReservedDomainsCreate: { method: 'POST', path: '/reserved_domains', query: [], idempotencyKey: true },
  ReservedDomainsList: { method: 'GET', path: '/reserved_domains', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'reserved_domains' },
  ReservedDomainsGet: { method: 'GET', path: '/reserved_domains/{id}', query: [], idempotencyKey: false },
  ReservedDomainsUpdate: { method: 'PATCH', path: '/reserved_domains/{id}', query: [], idempotencyKey: false },
  ReservedDomainsDelete: { method: 'DELETE', path: '/reserved_domains/{id}', query: [], idempotencyKey: false },
  ReservedDomainsDeleteCertificate: { method: 'DELETE', path: '/reserved_domains/{id}/certificate', query: [], idempotencyKey: false },
  ReservedDomainsDeleteCertificateManagementPolicy: { method: 'DELETE', path: '/reserved_domains/{id}/certificate_management_policy', query: [], idempotencyKey: false },
  GatewaysList: { method: 'GET', path: '/gateways', query: [], idempotencyKey: false },
  ReservedAddrsCreate: { method: 'POST', path: '/reserved_addrs', query: [], idempotencyKey: true },
  ReservedAddrsList: { method: 'GET', path: '/reserved_addrs', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'reserved_addrs' },
  ReservedAddrsGet: { method: 'GET', path: '/reserved_addrs/{id}', query: [], idempotencyKey: false },
  ReservedAddrsUpdate: { method: 'PATCH', path: '/reserved_addrs/{id}', query: [], idempotencyKey: false },
  ReservedAddrsDelete: { method: 'DELETE', path: '/reserved_addrs/{id}', query: [], idempotencyKey: false },
  TunnelSessionsList: { method: 'GET', path: '/tunnel_sessions', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'tunnel_sessions' },
  TunnelSessionsGet: { method: 'GET', path: '/tunnel_sessions/{id}', query: [], idempotencyKey: false },
  TunnelSessionsRestart: { method: 'POST', path: '/tunnel_sessions/{id}/restart', query: [], idempotencyKey: false },
  TunnelSessionsStop: { method: 'POST', path: '/tunnel_sessions/{id}/stop', query: [], idempotencyKey: false },
  TunnelSessionsUpdate: { method: 'POST', path: '/tunnel_sessions/{id}/update', query: [], idempotencyKey: false },
  TunnelsList: { method: 'GET', path: '/tunnels', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'tunnels' },
  TunnelsGet: { method: 'GET', path: '/tunnels/{id}', query: [], idempotencyKey: false },
  EndpointsList: { method: 'GET', path: '/endpoints', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'endpoints' },
  EndpointsGet: { method: 'GET', path: '/endpoints/{id}', query: [], idempotencyKey: false },
  TrafficHistory: { method: 'GET', path: '/traffic/history', query: [], idempotencyKey: false },
  TrafficEvents: { method: 'GET', path: '/traffic/events', query: [], idempotencyKey: false },
  ChangesList: { method: 'GET', path: '/changes', query: ['limit', 'before_id', 'filter', 'kind', 'resource_id', 'actor', 'since', 'until'], idempotencyKey: false, list: 'changes' },
  IpCheck: { method: 'POST', path: '/ip_check', query: [], idempotencyKey: false },
  ConfigurationGet: { method: 'GET', path: '/configuration', query: [], idempotencyKey: false },
  ConfigurationApply: { method: 'POST', path: '/configuration', query: ['dry_run', 'prune'], idempotencyKey: false },
  QuotasList: { method: 'GET', path: '/quotas', query: [], idempotencyKey: false },
  OpenApi: { method: 'GET', path: '/openapi.json', query: [], idempotencyKey: false },
  ConfigurationSchema: { method: 'GET', path: '/configuration.schema.json', query: [], idempotencyKey: false },
  Health: { method: 'GET', path: '/healthz', query: [], idempotencyKey: false },
  LocalCa: { method: 'GET', path: '/local_ca.pem', query: [], idempotencyKey: false },
  Readiness: { method: 'GET', path: '/readyz', query: [], idempotencyKey: false },
};
