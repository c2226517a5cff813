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

export interface InvitationAccept {
  /** The link, or the part of it after "#invite=". */
  link: string;
}

export interface AcceptedInvitation {
  /** Id of the new user. */
  user_id: string;
  /** Its name. */
  name: string;
  /** Rights of the user. */
  role: 'admin' | 'member' | 'viewer';
  /** Id of the user's first API key. */
  api_key_id: string;
  /** The token of that key, which is shown once. */
  token: string;
}

export interface ShownInvitation {
  /** The name of the user that the link makes. */
  name: string;
  /** The e-mail address that was invited, if one was. */
  email?: string;
  /** The role of that user. */
  role: 'admin' | 'member' | 'viewer';
  /** The name of the admin who invites. */
  invited_by: string;
  /** The name of the account. */
  account: string;
  /** When the link ends, RFC 3339. */
  expires_at: string;
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

/** Refuses clients that make too many requests: 429 with Retry-After, or a reset connection at a TCP or TLS edge. All gateways of the installation count together (docs/rate-limits.md). */
export interface RateLimitModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** Requests, or connections of a TCP or TLS edge, that each may make within the window. */
  limit: number;
  /** Length of the window, which slides, in seconds. Max 86400. */
  window_seconds: number;
  /** The clients that are told apart: each "source" address (a /64 network of IPv6 is one source), each value of a "header", or each client "certificate" that was shown. Connections of TCP and TLS edges are counted by source. */
  by?: 'source' | 'header' | 'certificate';
  /** Name of the header to count by. Requests without it are counted together. Clients choose their headers, so count by one that something else checks. */
  header?: string;
  /** false: nobody is refused; metrics count what would have been refused. */
  enforced?: boolean;
}

export interface RateLimitModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  /** Requests, or connections of a TCP or TLS edge, that each may make within the window. */
  limit: number;
  /** Length of the window, which slides, in seconds. Max 86400. */
  window_seconds: number;
  /** The clients that are told apart: each "source" address (a /64 network of IPv6 is one source), each value of a "header", or each client "certificate" that was shown. Connections of TCP and TLS edges are counted by source. */
  by: 'source' | 'header' | 'certificate';
  /** Name of the header to count by. Requests without it are counted together. Clients choose their headers, so count by one that something else checks. */
  header: string | null;
  /** false: nobody is refused; metrics count what would have been refused. */
  enforced: boolean;
}

/** Asks visitors for a certificate in the TLS handshake, for the names of this edge. Without one, or with one that none of the authorities has signed, requests are answered with 403, and connections to a TLS edge are closed. Upstreams of HTTPS edges get what the certificate says in the headers `X-Client-Cert-Subject`, `-Names`, `-Serial` and `-Fingerprint`, which visitors cannot set themselves. */
export interface MutualTlsModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** Ids of certificate authorities. A visitor must show a certificate of one of them. At least one, at most 16. */
  certificate_authority_ids?: string[];
}

export interface MutualTlsModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  /** The certificate authorities. A visitor must show a certificate of one of them. */
  certificate_authorities: Ref[];
}

export interface TlsTerminationModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** "edge": TLS ends at the gateway, and the backend gets the decrypted bytes. "upstream", for TLS edges only: the gateway passes the bytes on unread. */
  terminate_at?: 'edge' | 'upstream';
  /** Lowest version of TLS that clients may speak, "1.2" or "1.3". Without it: 1.2. None where TLS ends upstream. */
  min_version?: '1.2' | '1.3';
}

export interface TlsTerminationModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  /** "edge": TLS ends at the gateway, and the backend gets the decrypted bytes. "upstream", for TLS edges only: the gateway passes the bytes on unread. */
  terminate_at: 'edge' | 'upstream';
  /** Lowest version of TLS that clients may speak, "1.2" or "1.3". Without it: 1.2. None where TLS ends upstream. */
  min_version: string | null;
}

/** Refuses requests by their header `User-Agent` with 403. A pattern may match anywhere in it; `(?i)` at its start ignores case. Patterns are in the syntax of RE2, which has nothing that could take long. */
export interface UserAgentFilterModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** Regular expressions. One of them must match; if there are none, every user agent may pass. */
  allow?: string[];
  /** Regular expressions. If one of them matches, the request is refused. */
  deny?: string[];
}

export interface UserAgentFilterModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  /** Regular expressions. One of them must match; if there are none, every user agent may pass. */
  allow: string[];
  /** Regular expressions. If one of them matches, the request is refused. */
  deny: string[];
}

/** Asks visitors for a name and a password (HTTP basic authentication). Wrong ones are answered with 401, and a source that gives too many of them within a minute with 429. The upstream gets the header `Authorization` as it came: remove it with `request_headers` where the upstream must not see it. */
export interface BasicAuthModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** Names and passwords. A visitor must give one of them. At least one. */
  credentials: {
    /** The name. It must not be empty or contain ":". Max 255 bytes. */
    username: string;
    /** Never shown again: a hash of it is stored. If it is left out, the one stored for the name stays. At least 8 characters, max 255 bytes. */
    password?: string;
  }[];
}

export interface BasicAuthModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  /** The names; passwords are never shown. */
  credentials: {
    /** The name. It must not be empty or contain ":". Max 255 bytes. */
    username: string;
  }[];
}

/** Lets in requests that carry a signed token (JWT) of an issuer. Keys are read again when they change, and kept while the issuer is away; a key that the issuer withdraws lets nobody in ten minutes later. A token without `exp` is refused. The upstream gets the header as it came, and none whose name differs from it only in punctuation. */
export interface JwtValidationModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** The issuer (`iss`) that tokens must have, exactly. Max 1024 bytes. */
  issuer: string;
  /** A token must be for one of these audiences (`aud`). At least one. */
  audiences: string[];
  /** Algorithms that signatures may have. Default: RS256 and ES256. */
  algorithms?: ('RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512' | 'ES256' | 'ES384' | 'ES512' | 'EdDSA')[];
  /** Where the keys of the issuer are. Empty: where its OpenID metadata say. Max 1024 bytes. */
  jwks_uri?: string;
  /** Seconds by which clocks may differ. */
  clock_skew?: number;
  /** The header with the token: authorization (after "Bearer"), or another one that contains only the token. Max 255 bytes. */
  header?: string;
  /** Claims that a token must have, each with one of these values. */
  claims?: Record<string, string[]>;
}

export interface JwtValidationModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  /** The issuer (`iss`) that tokens must have, exactly. Max 1024 bytes. */
  issuer: string;
  /** A token must be for one of these audiences (`aud`). At least one. */
  audiences: string[];
  /** Algorithms that signatures may have. Default: RS256 and ES256. */
  algorithms: ('RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512' | 'ES256' | 'ES384' | 'ES512' | 'EdDSA')[];
  /** Where the keys of the issuer are. Empty: where its OpenID metadata say. Max 1024 bytes. */
  jwks_uri: string;
  /** Seconds by which clocks may differ. */
  clock_skew: number;
  /** The header with the token: authorization (after "Bearer"), or another one that contains only the token. Max 255 bytes. */
  header: string;
  /** Claims that a token must have, each with one of these values. */
  claims: Record<string, string[]>;
}

/** Asks visitors to sign in with one of the well-known providers, with a client of your own there. Register `https://HOST/.gatehouse/sign-in/callback` for each host of the edge. All else is as in the module `oidc`. */
export interface OauthModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** true: requests with the method OPTIONS, such as CORS preflights, need no login. */
  options_passthrough?: boolean;
  /** The name of the session cookie begins with it, after "__Host-". Max 64 bytes. */
  cookie_prefix?: string;
  /** Seconds without use after which a session ends. 0: no such limit. */
  inactivity_timeout?: number;
  /** Seconds after the login at which a session ends. 0: 14 days. At most a year. */
  maximum_duration?: number;
  /** Seconds after which Gatehouse asks the provider again whether the login still holds. 0: never. */
  auth_check_interval?: number;
  /** Groups whose members may enter. */
  groups?: string[];
  /** Claims that a visitor must have as well, each with one of these values. */
  claims?: Record<string, string[]>;
  /** true: e-mail addresses count even if the provider does not say that it has verified them. Use it only for a provider where nobody can choose an address. */
  unverified_email?: boolean;
  /** any: a login, from everywhere. or_login: visitors whom the IP policies allow need no login, all others do. and_login: only visitors whom the IP policies allow, and only after a login. */
  network?: 'any' | 'or_login' | 'and_login';
  /** Ids of the IP policies of the trusted network; needed unless `network` is any. */
  ip_policy_ids?: string[];
  /** true: the upstream also gets a signed token (JWT) in `Gatehouse-User-Token`, to be checked with the keys at `/.gatehouse/jwks.json` of the same host. */
  upstream_token?: boolean;
  /** The settings of one provider, by its name. */
  provider: {
    /** The settings of this provider. */
    github?: {
      /** Id of the client that was registered at the provider. Max 255 bytes. */
      client_id: string;
      /** Never shown again. If it is left out, the stored one stays while provider and client are the same. Max 4096 bytes. */
      client_secret?: string;
      /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
      scopes?: string[];
      /** E-mail addresses that may enter, if the provider has verified them. */
      email_addresses?: string[];
      /** Domains of verified e-mail addresses that may enter. */
      email_domains?: string[];
      /** GitHub only: organizations whose members may enter. */
      organizations?: string[];
      /** GitHub only: teams whose members may enter, as organization/team. */
      teams?: string[];
    };
    /** The settings of this provider. */
    facebook?: {
      /** Id of the client that was registered at the provider. Max 255 bytes. */
      client_id: string;
      /** Never shown again. If it is left out, the stored one stays while provider and client are the same. Max 4096 bytes. */
      client_secret?: string;
      /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
      scopes?: string[];
      /** E-mail addresses that may enter, if the provider has verified them. */
      email_addresses?: string[];
      /** Domains of verified e-mail addresses that may enter. */
      email_domains?: string[];
      /** GitHub only: organizations whose members may enter. */
      organizations?: string[];
      /** GitHub only: teams whose members may enter, as organization/team. */
      teams?: string[];
    };
    /** The settings of this provider. */
    microsoft?: {
      /** Id of the client that was registered at the provider. Max 255 bytes. */
      client_id: string;
      /** Never shown again. If it is left out, the stored one stays while provider and client are the same. Max 4096 bytes. */
      client_secret?: string;
      /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
      scopes?: string[];
      /** E-mail addresses that may enter, if the provider has verified them. */
      email_addresses?: string[];
      /** Domains of verified e-mail addresses that may enter. */
      email_domains?: string[];
      /** GitHub only: organizations whose members may enter. */
      organizations?: string[];
      /** GitHub only: teams whose members may enter, as organization/team. */
      teams?: string[];
    };
    /** The settings of this provider. */
    google?: {
      /** Id of the client that was registered at the provider. Max 255 bytes. */
      client_id: string;
      /** Never shown again. If it is left out, the stored one stays while provider and client are the same. Max 4096 bytes. */
      client_secret?: string;
      /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
      scopes?: string[];
      /** E-mail addresses that may enter, if the provider has verified them. */
      email_addresses?: string[];
      /** Domains of verified e-mail addresses that may enter. */
      email_domains?: string[];
      /** GitHub only: organizations whose members may enter. */
      organizations?: string[];
      /** GitHub only: teams whose members may enter, as organization/team. */
      teams?: string[];
    };
    /** The settings of this provider. */
    linkedin?: {
      /** Id of the client that was registered at the provider. Max 255 bytes. */
      client_id: string;
      /** Never shown again. If it is left out, the stored one stays while provider and client are the same. Max 4096 bytes. */
      client_secret?: string;
      /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
      scopes?: string[];
      /** E-mail addresses that may enter, if the provider has verified them. */
      email_addresses?: string[];
      /** Domains of verified e-mail addresses that may enter. */
      email_domains?: string[];
      /** GitHub only: organizations whose members may enter. */
      organizations?: string[];
      /** GitHub only: teams whose members may enter, as organization/team. */
      teams?: string[];
    };
    /** The settings of this provider. */
    gitlab?: {
      /** Id of the client that was registered at the provider. Max 255 bytes. */
      client_id: string;
      /** Never shown again. If it is left out, the stored one stays while provider and client are the same. Max 4096 bytes. */
      client_secret?: string;
      /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
      scopes?: string[];
      /** E-mail addresses that may enter, if the provider has verified them. */
      email_addresses?: string[];
      /** Domains of verified e-mail addresses that may enter. */
      email_domains?: string[];
      /** GitHub only: organizations whose members may enter. */
      organizations?: string[];
      /** GitHub only: teams whose members may enter, as organization/team. */
      teams?: string[];
    };
    /** The settings of this provider. */
    twitch?: {
      /** Id of the client that was registered at the provider. Max 255 bytes. */
      client_id: string;
      /** Never shown again. If it is left out, the stored one stays while provider and client are the same. Max 4096 bytes. */
      client_secret?: string;
      /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
      scopes?: string[];
      /** E-mail addresses that may enter, if the provider has verified them. */
      email_addresses?: string[];
      /** Domains of verified e-mail addresses that may enter. */
      email_domains?: string[];
      /** GitHub only: organizations whose members may enter. */
      organizations?: string[];
      /** GitHub only: teams whose members may enter, as organization/team. */
      teams?: string[];
    };
    /** The settings of this provider. */
    amazon?: {
      /** Id of the client that was registered at the provider. Max 255 bytes. */
      client_id: string;
      /** Never shown again. If it is left out, the stored one stays while provider and client are the same. Max 4096 bytes. */
      client_secret?: string;
      /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
      scopes?: string[];
      /** E-mail addresses that may enter, if the provider has verified them. */
      email_addresses?: string[];
      /** Domains of verified e-mail addresses that may enter. */
      email_domains?: string[];
      /** GitHub only: organizations whose members may enter. */
      organizations?: string[];
      /** GitHub only: teams whose members may enter, as organization/team. */
      teams?: string[];
    };
  };
}

export interface OauthModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  /** true: requests with the method OPTIONS, such as CORS preflights, need no login. */
  options_passthrough: boolean;
  /** The name of the session cookie begins with it, after "__Host-". Max 64 bytes. */
  cookie_prefix: string;
  /** Seconds without use after which a session ends. 0: no such limit. */
  inactivity_timeout: number;
  /** Seconds after the login at which a session ends. 0: 14 days. At most a year. */
  maximum_duration: number;
  /** Seconds after which Gatehouse asks the provider again whether the login still holds. 0: never. */
  auth_check_interval: number;
  /** Groups whose members may enter. */
  groups: string[];
  /** Claims that a visitor must have as well, each with one of these values. */
  claims: Record<string, string[]>;
  /** true: e-mail addresses count even if the provider does not say that it has verified them. Use it only for a provider where nobody can choose an address. */
  unverified_email: boolean;
  /** any: a login, from everywhere. or_login: visitors whom the IP policies allow need no login, all others do. and_login: only visitors whom the IP policies allow, and only after a login. */
  network: 'any' | 'or_login' | 'and_login';
  /** The IP policies of the trusted network. */
  ip_policies: Ref[];
  /** true: the upstream also gets a signed token (JWT) in `Gatehouse-User-Token`, to be checked with the keys at `/.gatehouse/jwks.json` of the same host. */
  upstream_token: boolean;
  /** The settings of the provider; the secret of the client is never shown. */
  provider: {
    /** Null but for the one that is set. */
    github: {
      /** Id of the client that was registered at the provider. Max 255 bytes. */
      client_id?: string;
      /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
      scopes?: string[];
      /** E-mail addresses that may enter, if the provider has verified them. */
      email_addresses?: string[];
      /** Domains of verified e-mail addresses that may enter. */
      email_domains?: string[];
      /** GitHub only: organizations whose members may enter. */
      organizations?: string[];
      /** GitHub only: teams whose members may enter, as organization/team. */
      teams?: string[];
    } | null;
    /** Null but for the one that is set. */
    facebook: {
      /** Id of the client that was registered at the provider. Max 255 bytes. */
      client_id?: string;
      /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
      scopes?: string[];
      /** E-mail addresses that may enter, if the provider has verified them. */
      email_addresses?: string[];
      /** Domains of verified e-mail addresses that may enter. */
      email_domains?: string[];
      /** GitHub only: organizations whose members may enter. */
      organizations?: string[];
      /** GitHub only: teams whose members may enter, as organization/team. */
      teams?: string[];
    } | null;
    /** Null but for the one that is set. */
    microsoft: {
      /** Id of the client that was registered at the provider. Max 255 bytes. */
      client_id?: string;
      /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
      scopes?: string[];
      /** E-mail addresses that may enter, if the provider has verified them. */
      email_addresses?: string[];
      /** Domains of verified e-mail addresses that may enter. */
      email_domains?: string[];
      /** GitHub only: organizations whose members may enter. */
      organizations?: string[];
      /** GitHub only: teams whose members may enter, as organization/team. */
      teams?: string[];
    } | null;
    /** Null but for the one that is set. */
    google: {
      /** Id of the client that was registered at the provider. Max 255 bytes. */
      client_id?: string;
      /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
      scopes?: string[];
      /** E-mail addresses that may enter, if the provider has verified them. */
      email_addresses?: string[];
      /** Domains of verified e-mail addresses that may enter. */
      email_domains?: string[];
      /** GitHub only: organizations whose members may enter. */
      organizations?: string[];
      /** GitHub only: teams whose members may enter, as organization/team. */
      teams?: string[];
    } | null;
    /** Null but for the one that is set. */
    linkedin: {
      /** Id of the client that was registered at the provider. Max 255 bytes. */
      client_id?: string;
      /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
      scopes?: string[];
      /** E-mail addresses that may enter, if the provider has verified them. */
      email_addresses?: string[];
      /** Domains of verified e-mail addresses that may enter. */
      email_domains?: string[];
      /** GitHub only: organizations whose members may enter. */
      organizations?: string[];
      /** GitHub only: teams whose members may enter, as organization/team. */
      teams?: string[];
    } | null;
    /** Null but for the one that is set. */
    gitlab: {
      /** Id of the client that was registered at the provider. Max 255 bytes. */
      client_id?: string;
      /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
      scopes?: string[];
      /** E-mail addresses that may enter, if the provider has verified them. */
      email_addresses?: string[];
      /** Domains of verified e-mail addresses that may enter. */
      email_domains?: string[];
      /** GitHub only: organizations whose members may enter. */
      organizations?: string[];
      /** GitHub only: teams whose members may enter, as organization/team. */
      teams?: string[];
    } | null;
    /** Null but for the one that is set. */
    twitch: {
      /** Id of the client that was registered at the provider. Max 255 bytes. */
      client_id?: string;
      /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
      scopes?: string[];
      /** E-mail addresses that may enter, if the provider has verified them. */
      email_addresses?: string[];
      /** Domains of verified e-mail addresses that may enter. */
      email_domains?: string[];
      /** GitHub only: organizations whose members may enter. */
      organizations?: string[];
      /** GitHub only: teams whose members may enter, as organization/team. */
      teams?: string[];
    } | null;
    /** Null but for the one that is set. */
    amazon: {
      /** Id of the client that was registered at the provider. Max 255 bytes. */
      client_id?: string;
      /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
      scopes?: string[];
      /** E-mail addresses that may enter, if the provider has verified them. */
      email_addresses?: string[];
      /** Domains of verified e-mail addresses that may enter. */
      email_domains?: string[];
      /** GitHub only: organizations whose members may enter. */
      organizations?: string[];
      /** GitHub only: teams whose members may enter, as organization/team. */
      teams?: string[];
    } | null;
  };
}

/** Asks visitors to sign in with an OpenID provider. Register `https://HOST/.gatehouse/sign-in/callback` there for each host of the edge. Programs that cannot be shown a login get 401. The upstream gets `Gatehouse-User-Id`, `-Email`, `-Name` and `-Groups`; such headers of visitors are removed. */
export interface OidcModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** true: requests with the method OPTIONS, such as CORS preflights, need no login. */
  options_passthrough?: boolean;
  /** The name of the session cookie begins with it, after "__Host-". Max 64 bytes. */
  cookie_prefix?: string;
  /** Seconds without use after which a session ends. 0: no such limit. */
  inactivity_timeout?: number;
  /** Seconds after the login at which a session ends. 0: 14 days. At most a year. */
  maximum_duration?: number;
  /** Seconds after which Gatehouse asks the provider again whether the login still holds. 0: never. */
  auth_check_interval?: number;
  /** Groups whose members may enter. */
  groups?: string[];
  /** Claims that a visitor must have as well, each with one of these values. */
  claims?: Record<string, string[]>;
  /** true: e-mail addresses count even if the provider does not say that it has verified them. Use it only for a provider where nobody can choose an address. */
  unverified_email?: boolean;
  /** any: a login, from everywhere. or_login: visitors whom the IP policies allow need no login, all others do. and_login: only visitors whom the IP policies allow, and only after a login. */
  network?: 'any' | 'or_login' | 'and_login';
  /** Ids of the IP policies of the trusted network; needed unless `network` is any. */
  ip_policy_ids?: string[];
  /** true: the upstream also gets a signed token (JWT) in `Gatehouse-User-Token`, to be checked with the keys at `/.gatehouse/jwks.json` of the same host. */
  upstream_token?: boolean;
  /** E-mail addresses that may enter, if the provider has verified them. */
  email_addresses?: string[];
  /** Domains of verified e-mail addresses that may enter. */
  email_domains?: string[];
  /** URL of the OpenID provider, exactly as it names itself. https, or http on this machine. Max 1024 bytes. */
  issuer: string;
  /** Id of the client that was registered at the provider. Max 255 bytes. */
  client_id: string;
  /** Never shown again. If it is left out, the stored one stays while issuer and client are the same. Max 4096 bytes. */
  client_secret?: string;
  /** Scopes to ask the provider for; openid is always among them. Default: openid, profile, email. */
  scopes?: string[];
  /** The claim that contains the groups of a visitor. Max 255 bytes. */
  groups_claim?: string;
}

export interface OidcModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  /** true: requests with the method OPTIONS, such as CORS preflights, need no login. */
  options_passthrough: boolean;
  /** The name of the session cookie begins with it, after "__Host-". Max 64 bytes. */
  cookie_prefix: string;
  /** Seconds without use after which a session ends. 0: no such limit. */
  inactivity_timeout: number;
  /** Seconds after the login at which a session ends. 0: 14 days. At most a year. */
  maximum_duration: number;
  /** Seconds after which Gatehouse asks the provider again whether the login still holds. 0: never. */
  auth_check_interval: number;
  /** Groups whose members may enter. */
  groups: string[];
  /** Claims that a visitor must have as well, each with one of these values. */
  claims: Record<string, string[]>;
  /** true: e-mail addresses count even if the provider does not say that it has verified them. Use it only for a provider where nobody can choose an address. */
  unverified_email: boolean;
  /** any: a login, from everywhere. or_login: visitors whom the IP policies allow need no login, all others do. and_login: only visitors whom the IP policies allow, and only after a login. */
  network: 'any' | 'or_login' | 'and_login';
  /** The IP policies of the trusted network. */
  ip_policies: Ref[];
  /** true: the upstream also gets a signed token (JWT) in `Gatehouse-User-Token`, to be checked with the keys at `/.gatehouse/jwks.json` of the same host. */
  upstream_token: boolean;
  /** E-mail addresses that may enter, if the provider has verified them. */
  email_addresses: string[];
  /** Domains of verified e-mail addresses that may enter. */
  email_domains: string[];
  /** URL of the OpenID provider, exactly as it names itself. https, or http on this machine. Max 1024 bytes. */
  issuer: string;
  /** Id of the client that was registered at the provider. Max 255 bytes. */
  client_id: string;
  /** Scopes to ask the provider for; openid is always among them. Default: openid, profile, email. */
  scopes: string[];
  /** The claim that contains the groups of a visitor. Max 255 bytes. */
  groups_claim: string;
}

/** Lets only requests pass that the provider has signed, and that are not older than it allows. Others are answered with 403. Bodies are held until they are whole, up to 8 MiB, and passed on unchanged. */
export interface WebhookVerificationModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** The sender of the webhooks: one of the ids in docs/webhooks.md, in upper or lower case. */
  provider: string;
  /** Secret that the provider signs with, as it shows it; for SendGrid its public key, for VMware "name::password". Never shown again. If it is left out, the one stored for the provider stays. Max 4096 bytes. */
  secret?: string;
}

/** The secret is never shown. */
export interface WebhookVerificationModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  /** The sender of the webhooks: one of the ids in docs/webhooks.md, in upper or lower case. */
  provider: string;
}

/** The older form of `traffic_policy`, which does the same. One of them can be switched on (docs/traffic-policy.md). */
export interface PolicyModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** Rules for requests, or for connections to a TCP or TLS edge. They are kept as they were sent. */
  inbound?: ({
    /** A name for people. */
    name?: string | number;
    /** The actions run if all of these are true. */
    expressions?: string[];
    /** Actions of the rule, in this order. */
    actions?: {
      /** Name of the action. */
      type?: string;
      /** Settings of the action, as its type asks for them. */
      config?: unknown;
    }[];
  })[];
  /** Rules for the answers of a route. They are kept as they were sent. */
  outbound?: ({
    /** A name for people. */
    name?: string | number;
    /** The actions run if all of these are true. */
    expressions?: string[];
    /** Actions of the rule, in this order. */
    actions?: {
      /** Name of the action. */
      type?: string;
      /** Settings of the action, as its type asks for them. */
      config?: unknown;
    }[];
  })[];
}

export interface PolicyModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  /** Rules for requests, or for connections to a TCP or TLS edge. They are kept as they were sent. */
  inbound: ({
    /** A name for people. */
    name?: string | number;
    /** The actions run if all of these are true. */
    expressions?: string[];
    /** Actions of the rule, in this order. */
    actions?: {
      /** Name of the action. */
      type?: string;
      /** Settings of the action, as its type asks for them. */
      config?: unknown;
    }[];
  })[];
  /** Rules for the answers of a route. They are kept as they were sent. */
  outbound: ({
    /** A name for people. */
    name?: string | number;
    /** The actions run if all of these are true. */
    expressions?: string[];
    /** Actions of the rule, in this order. */
    actions?: {
      /** Name of the action. */
      type?: string;
      /** Settings of the action, as its type asks for them. */
      config?: unknown;
    }[];
  })[];
}

/** Rules for connections, requests and answers (docs/traffic-policy.md). */
export interface TrafficPolicyModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** The policy, as YAML or JSON: phases (on_tcp_connect, on_http_request, on_http_response) with lists of rules, each with name, expressions and actions. It is kept to the byte. YAML may have 8 KiB with 700 lines, keys, items and brackets, JSON 256 KiB. */
  value: string;
}

export interface TrafficPolicyModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  /** The policy, as YAML or JSON: phases (on_tcp_connect, on_http_request, on_http_response) with lists of rules, each with name, expressions and actions. It is kept to the byte. YAML may have 8 KiB with 700 lines, keys, items and brackets, JSON 256 KiB. */
  value: string;
}

/** Protects an upstream that fails: while too many of its answers are errors, requests get 503 at once. Each process of the gateway counts for itself, and starts again from zero after a change of these settings. */
export interface CircuitBreakerModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** Seconds without requests after the circuit has opened; then one request is tried. 0 means 10. */
  tripped_duration?: number;
  /** Seconds over which answers are counted. 0 means 10. */
  rolling_window?: number;
  /** Parts of the rolling window, which expire one by one. Max 128. 0 means 10. */
  num_buckets?: number;
  /** Requests within the window below which the circuit stays closed. 0 means 10. */
  volume_threshold?: number;
  /** Share of failing answers (500 and above), from 0 to 1, above which the circuit opens. */
  error_threshold_percentage?: number;
}

export interface CircuitBreakerModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  /** Seconds without requests after the circuit has opened; then one request is tried. 0 means 10. */
  tripped_duration: number;
  /** Seconds over which answers are counted. 0 means 10. */
  rolling_window: number;
  /** Parts of the rolling window, which expire one by one. Max 128. 0 means 10. */
  num_buckets: number;
  /** Requests within the window below which the circuit stays closed. 0 means 10. */
  volume_threshold: number;
  /** Share of failing answers (500 and above), from 0 to 1, above which the circuit opens. */
  error_threshold_percentage: number;
}

/** Accepts WebSocket connections only, and passes the bytes of their messages to a backend that speaks no HTTP, such as a database or an SSH server. What the backend sends comes back in binary messages. */
export interface WebsocketTcpConverterModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
}

export interface WebsocketTcpConverterModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
}

/** Answers requests with a redirect, once they have passed every check. No backend is asked. */
export interface RedirectModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** Where visitors are sent: a path, or a URL of http or https. It has no placeholders: "${…}" is plain text. */
  to: string;
  /** 301, 302, 303, 307 or 308. 307 and 308 keep method and body; 301 and 308 are remembered by browsers. */
  status_code?: 301 | 302 | 303 | 307 | 308;
  /** true: path and query of the request are appended. */
  keep_path?: boolean;
}

export interface RedirectModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  /** Where visitors are sent: a path, or a URL of http or https. It has no placeholders: "${…}" is plain text. */
  to: string;
  /** 301, 302, 303, 307 or 308. 307 and 308 keep method and body; 301 and 308 are remembered by browsers. */
  status_code: number;
  /** true: path and query of the request are appended. */
  keep_path: boolean;
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

/** Changes the path that the upstream gets; the query, and escapes in the rest of the path, stay as they are. Routes are chosen by the path that the visitor sends. Answers are not changed: an upstream that redirects must know its public path. */
export interface PathRewriteModuleReplace {
  /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
  enabled?: boolean;
  /** Removed from the start of the path, in whole segments: "/api" makes "/x" of "/api/x". A path that does not begin with it stays as it is. */
  strip_prefix?: string;
  /** Added before the rest of the path. */
  add_prefix?: string;
}

export interface PathRewriteModule {
  /** true: the module is applied to traffic. false: disabled. */
  enabled: boolean;
  /** Removed from the start of the path, in whole segments: "/api" makes "/x" of "/api/x". A path that does not begin with it stays as it is. */
  strip_prefix: string;
  /** Added before the rest of the path. */
  add_prefix: string;
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

export interface User {
  /** Unique identifier of the user. */
  id: string;
  /** URI of this user's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** A human-readable name, unique among users and invitations of the account. */
  name: string;
  /** E-mail address, unique among users and invitations of the account. Nothing is sent there. */
  email?: string;
  /** admin: everything. member: everything but users, bots, IP restrictions and the change log, and of keys only their own. viewer: reads. */
  role: 'admin' | 'member' | 'viewer';
  /** false: the API keys, dashboard sessions and agents of the user are refused, at once. */
  active: boolean;
  /** The user at the identity provider of the installation. Absent until the first sign-in with it. */
  sign_in?: {
    /** The URL that the provider is known by. */
    issuer: string;
    /** The id of the person there. */
    subject: string;
    /** true: the role comes from groups there. Each sign-in, and each check of a session, sets it. */
    role_by_group: boolean;
  };
  /** How many API keys the user has. */
  api_keys: number;
  /** When one of these keys, or a session of the dashboard, was last used; of those of an identity provider when that was last asked. Absent: never. */
  last_seen_at?: string;
}

export interface UserUpdate {
  /** A human-readable name, unique among users and invitations of the account. */
  name?: string;
  /** E-mail address, unique among users and invitations of the account. Nothing is sent there. */
  email?: string;
  /** admin: everything. member: everything but users, bots, IP restrictions and the change log, and of keys only their own. viewer: reads. */
  role?: 'admin' | 'member' | 'viewer';
  /** false: the API keys, dashboard sessions and agents of the user are refused, at once. */
  active?: boolean;
}

export interface Invitation {
  /** Unique identifier of the invitation. */
  id: string;
  /** URI of this invitation's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** A human-readable name, unique among users and invitations of the account. */
  name: string;
  /** E-mail address, unique among users and invitations of the account. Nothing is sent there. */
  email?: string;
  /** admin: everything. member: everything but users, bots, IP restrictions and the change log, and of keys only their own. viewer: reads. */
  role: 'admin' | 'member' | 'viewer';
  /** The first person who opens it becomes this user. Present only in the response to creation; null in every other. */
  link: string | null;
  /** Until when the link works: three days, RFC 3339. */
  expires_at: string;
  /** The admin who made it. The link ends when that user is deactivated or no longer an admin. */
  invited_by: string;
}

export interface InvitationCreate {
  /** A human-readable name, unique among users and invitations of the account. */
  name: string;
  /** E-mail address, unique among users and invitations of the account. Nothing is sent there. */
  email?: string;
  /** admin: everything. member: everything but users, bots, IP restrictions and the change log, and of keys only their own. viewer: reads. */
  role: 'admin' | 'member' | 'viewer';
}

export interface InvitationUpdate {
  /** A human-readable name, unique among users and invitations of the account. */
  name?: string;
  /** E-mail address, unique among users and invitations of the account. Nothing is sent there. */
  email?: string;
  /** admin: everything. member: everything but users, bots, IP restrictions and the change log, and of keys only their own. viewer: reads. */
  role?: 'admin' | 'member' | 'viewer';
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
  /** true: only GET, POST /ip_check and POST /traffic_policy_check are possible with the key. */
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
  /** true: only GET, POST /ip_check and POST /traffic_policy_check are possible with the key. */
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
  /** true: only GET, POST /ip_check and POST /traffic_policy_check are possible with the key. */
  read_only?: boolean;
}

export interface ApiKeyRotate {
  /** How long the present token stays valid beside the new one, 0 to 604800 seconds. 0, the default, ends it at once. */
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
  /** Rules for what agents with this token may bind; an empty list allows everything. "bind:app.example.com" is one name, "bind:*.example.com" every name below it, "bind:tcp.example.com:10022" one address, "bind:app=shop" a label; "*" in it stands for any key or value. */
  acl: string[];
  /** The User or Bot that owns the credential. */
  owner_id: string;
}

export interface CredentialCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Rules for what agents with this token may bind; an empty list allows everything. "bind:app.example.com" is one name, "bind:*.example.com" every name below it, "bind:tcp.example.com:10022" one address, "bind:app=shop" a label; "*" in it stands for any key or value. */
  acl?: string[];
  /** The User or Bot that owns the credential. Defaults to the authenticated User or Bot; only admins may name another. */
  owner_id?: string;
}

export interface CredentialUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Rules for what agents with this token may bind; an empty list allows everything. "bind:app.example.com" is one name, "bind:*.example.com" every name below it, "bind:tcp.example.com:10022" one address, "bind:app=shop" a label; "*" in it stands for any key or value. */
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

export interface IpPolicyRuleCounts {
  /** The newest 500 IP policies, newest first. */
  counts: {
    /** The IP policy. */
    ip_policy_id: string;
    /** How many rules the policy has, or how many were counted if it has more. */
    rules: number;
    /** true: the policy has more rules than were counted, which are at least 1000, and more where there are few policies. */
    has_more: boolean;
  }[];
  /** URI of this document. */
  uri: string;
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
  /** How many addresses are known and pass the filter, if there is one. The newest 10,000 are kept. */
  total_sources: number;
  /** URI of this list. */
  uri: string;
}

export interface IpRestrictionWarningsSummary {
  /** The time window. */
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
  /** The addresses, the most frequent first; at most 1000. */
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
  /** How many addresses came within the window, as far as they are counted separately. */
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
  /** Where traffic is sent, as host:port. Write an IPv6 address in brackets. */
  address: string;
  /** How the address is spoken to. */
  tls: {
    /** true: the gateway speaks TLS to the address. false: it does not. */
    enabled: boolean;
  };
  /** Where traffic is sent, if that is more than one address; the first is that in address. */
  addresses?: {
    /** As host:port. */
    address: string;
    /** Share of the address, in proportion to the others, up to 10000. 0: it gets no traffic, but is still checked. */
    weight: number;
  }[];
  /** How Gatehouse chooses the address for a request or connection. */
  balance?: {
    /** round_robin: in turn. least_connections: the one of two that has fewer open requests and connections of this process. source: the same address for the same client address. header: the same for the same value of a header. */
    by: 'round_robin' | 'least_connections' | 'source' | 'header';
    /** Name of the header, for header. Requests without it, and TCP connections, go by their source. */
    header?: string;
  };
  /** How often a request that may be repeated (GET, HEAD, OPTIONS, PUT or DELETE without a body) is sent to another address when one breaks off without an answer, or fails by its status. Where nothing could be sent, every address is tried. */
  retries?: number;
  /** fail_open: all addresses are tried as if they were up. fail_closed: requests are answered with 503. */
  when_all_down?: 'fail_open' | 'fail_closed';
  /** Time over which an address that is up again goes from a tenth of its share to the whole. */
  slow_start_seconds?: number;
  /** Verdicts about the addresses by real requests and connections. */
  passive_check?: {
    /** Failures in a row after which an address is down, over all workers of a gateway. */
    failures: number;
    /** Statuses that count as failures, besides connections that cannot be opened or that break, and answers that are late. */
    statuses: string[];
    /** Time after which a request tries an address that is down. */
    down_seconds: number;
  };
  /** Checks that every gateway makes on every address. */
  active_check?: {
    /** http: asks for a path. tcp: opens a connection, with its TLS handshake where the backend has TLS. */
    kind: 'http' | 'tcp';
    /** Path of the GET request, for http. Max 1000 characters. */
    path?: string;
    /** The header Host of the check; by default, the address. */
    host?: string;
    /** Statuses that count as good, for http. */
    statuses?: string[];
    /** Time between two checks of one address by one gateway. */
    interval_seconds: number;
    /** Time in which the answer must begin; not more than the interval. */
    timeout_seconds: number;
    /** Failed checks in a row after which an address is down. */
    failures: number;
    /** Good checks in a row after which an address is up again. */
    passes: number;
  };
}

export interface StaticBackendHealth {
  /** Id of the backend. */
  id: string;
  /** URI of this view. */
  uri: string;
  /** up: no gateway misses an address. in_part: some address is down for some gateway. down: all addresses with a weight are down for all gateways. unchecked: nothing has been seen yet. unwatched: there is one address and no check, so that nobody looks. */
  state: 'up' | 'in_part' | 'down' | 'unchecked' | 'unwatched';
  /** In the order of the backend. */
  addresses: ({
    /** The address, as host:port. */
    address: string;
    /** Share of the address; 0: it gets no traffic. */
    weight: number;
    /** The view of each gateway. */
    gateways: ({
      /** Id of the process, as GET /gateways has it. */
      gateway_id: string;
      /** Name of its machine; only admins are told. */
      host?: string;
      /** State at that gateway: down: it sends nothing there. unchecked: it has seen nothing yet, and sends. */
      state: 'up' | 'down' | 'unchecked';
      /** Since when the address has been in that state; absent: since the process began, RFC 3339. */
      since?: string;
      /** Source of the verdict: an active check, or real traffic. */
      by?: 'check' | 'traffic';
      /** The last failure, while there is one. */
      cause?: string;
      /** Failures in a row, of checks or of traffic. */
      failures: number;
      /** When the last active check was reported; once a minute while nothing changes, RFC 3339. */
      checked_at?: string;
      /** Time that this check took, in milliseconds. */
      check_ms?: number;
    })[];
  })[];
  /** The last times that an address went down or came back, newest first; up to 20 of each gateway. */
  flips: ({
    /** When it happened, RFC 3339. */
    at: string;
    /** Id of the process, as GET /gateways has it. */
    gateway_id: string;
    /** Name of its machine; only admins are told. */
    host?: string;
    /** The address that went down or came back. */
    address: string;
    /** The state from then on. */
    state: 'up' | 'down';
    /** Source of the verdict: an active check, or real traffic. */
    by?: 'check' | 'traffic';
    /** Why it was taken out. */
    cause?: string;
  })[];
}

export interface StaticBackendCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where traffic is sent, as host:port. Write an IPv6 address in brackets. */
  address?: string;
  /** How the address is spoken to. */
  tls?: {
    /** true: the gateway speaks TLS to the address. false: it does not. */
    enabled?: boolean;
  };
  /** Where traffic is sent, if that is more than one address. Max 32; the first is also shown as address. [] leaves the one in address. */
  addresses?: {
    /** As host:port. */
    address: string;
    /** Share of the address, in proportion to the others, up to 10000. 0: it gets no traffic, but is still checked. */
    weight?: number;
  }[];
  /** How Gatehouse chooses the address for a request or connection; round_robin by default. */
  balance?: {
    /** round_robin: in turn. least_connections: the one of two that has fewer open requests and connections of this process. source: the same address for the same client address. header: the same for the same value of a header. */
    by: 'round_robin' | 'least_connections' | 'source' | 'header';
    /** Name of the header, for header. Requests without it, and TCP connections, go by their source. */
    header?: string;
  };
  /** How often a request that may be repeated (GET, HEAD, OPTIONS, PUT or DELETE without a body) is sent to another address when one breaks off without an answer, or fails by its status. Where nothing could be sent, every address is tried. */
  retries?: number;
  /** fail_open: all addresses are tried as if they were up. fail_closed: requests are answered with 503. */
  when_all_down?: 'fail_open' | 'fail_closed';
  /** Time over which an address that is up again goes from a tenth of its share to the whole. */
  slow_start_seconds?: number;
  /** Verdicts about the addresses by real requests and connections. Without it, one of several addresses that refuses a connection is left out for five seconds. */
  passive_check?: {
    /** false: removes the check. Default true. */
    enabled?: boolean;
    /** Failures in a row after which an address is down, over all workers of a gateway. */
    failures?: number;
    /** Statuses that count as failures, besides connections that cannot be opened or that break, and answers that are late. */
    statuses?: string[];
    /** Time after which a request tries an address that is down. */
    down_seconds?: number;
  };
  /** Checks that every gateway makes on every address. */
  active_check?: {
    /** false: removes the check. Default true. */
    enabled?: boolean;
    /** http: asks for a path. tcp: opens a connection, with its TLS handshake where the backend has TLS. */
    kind?: 'http' | 'tcp';
    /** Path of the GET request, for http. Max 1000 characters. */
    path?: string;
    /** The header Host of the check; by default, the address. */
    host?: string;
    /** Statuses that count as good, for http. */
    statuses?: string[];
    /** Time between two checks of one address by one gateway. */
    interval_seconds?: number;
    /** Time in which the answer must begin; not more than the interval. */
    timeout_seconds?: number;
    /** Failed checks in a row after which an address is down. */
    failures?: number;
    /** Good checks in a row after which an address is up again. */
    passes?: number;
  };
}

export interface StaticBackendUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where traffic is sent, as host:port. Write an IPv6 address in brackets. */
  address?: string;
  /** How the address is spoken to. */
  tls?: {
    /** true: the gateway speaks TLS to the address. false: it does not. */
    enabled?: boolean;
  };
  /** Where traffic is sent, if that is more than one address. Max 32; the first is also shown as address. [] leaves the one in address. */
  addresses?: {
    /** As host:port. */
    address: string;
    /** Share of the address, in proportion to the others, up to 10000. 0: it gets no traffic, but is still checked. */
    weight?: number;
  }[];
  /** How Gatehouse chooses the address for a request or connection; round_robin by default. */
  balance?: {
    /** round_robin: in turn. least_connections: the one of two that has fewer open requests and connections of this process. source: the same address for the same client address. header: the same for the same value of a header. */
    by: 'round_robin' | 'least_connections' | 'source' | 'header';
    /** Name of the header, for header. Requests without it, and TCP connections, go by their source. */
    header?: string;
  };
  /** How often a request that may be repeated (GET, HEAD, OPTIONS, PUT or DELETE without a body) is sent to another address when one breaks off without an answer, or fails by its status. Where nothing could be sent, every address is tried. */
  retries?: number;
  /** fail_open: all addresses are tried as if they were up. fail_closed: requests are answered with 503. */
  when_all_down?: 'fail_open' | 'fail_closed';
  /** Time over which an address that is up again goes from a tenth of its share to the whole. */
  slow_start_seconds?: number;
  /** Verdicts about the addresses by real requests and connections. Without it, one of several addresses that refuses a connection is left out for five seconds. */
  passive_check?: {
    /** false: removes the check. Default true. */
    enabled?: boolean;
    /** Failures in a row after which an address is down, over all workers of a gateway. */
    failures?: number;
    /** Statuses that count as failures, besides connections that cannot be opened or that break, and answers that are late. */
    statuses?: string[];
    /** Time after which a request tries an address that is down. */
    down_seconds?: number;
  };
  /** Checks that every gateway makes on every address. */
  active_check?: {
    /** false: removes the check. Default true. */
    enabled?: boolean;
    /** http: asks for a path. tcp: opens a connection, with its TLS handshake where the backend has TLS. */
    kind?: 'http' | 'tcp';
    /** Path of the GET request, for http. Max 1000 characters. */
    path?: string;
    /** The header Host of the check; by default, the address. */
    host?: string;
    /** Statuses that count as good, for http. */
    statuses?: string[];
    /** Time between two checks of one address by one gateway. */
    interval_seconds?: number;
    /** Time in which the answer must begin; not more than the interval. */
    timeout_seconds?: number;
    /** Failed checks in a row after which an address is down. */
    failures?: number;
    /** Good checks in a row after which an address is up again. */
    passes?: number;
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
  /** Where traffic is sent, as host:port. Write an IPv6 address in brackets. Needed without addresses. */
  address?: string;
  /** How the address is spoken to. */
  tls?: {
    /** true: the gateway speaks TLS to the address. false: it does not. */
    enabled?: boolean;
  };
  /** Where traffic is sent, if that is more than one address. Max 32; the first is also shown as address. [] leaves the one in address. */
  addresses?: {
    /** As host:port. */
    address: string;
    /** Share of the address, in proportion to the others, up to 10000. 0: it gets no traffic, but is still checked. */
    weight?: number;
  }[];
  /** How Gatehouse chooses the address for a request or connection; round_robin by default. */
  balance?: {
    /** round_robin: in turn. least_connections: the one of two that has fewer open requests and connections of this process. source: the same address for the same client address. header: the same for the same value of a header. */
    by: 'round_robin' | 'least_connections' | 'source' | 'header';
    /** Name of the header, for header. Requests without it, and TCP connections, go by their source. */
    header?: string;
  };
  /** How often a request that may be repeated (GET, HEAD, OPTIONS, PUT or DELETE without a body) is sent to another address when one breaks off without an answer, or fails by its status. Where nothing could be sent, every address is tried. */
  retries?: number;
  /** fail_open: all addresses are tried as if they were up. fail_closed: requests are answered with 503. */
  when_all_down?: 'fail_open' | 'fail_closed';
  /** Time over which an address that is up again goes from a tenth of its share to the whole. */
  slow_start_seconds?: number;
  /** Verdicts about the addresses by real requests and connections. Without it, one of several addresses that refuses a connection is left out for five seconds. */
  passive_check?: {
    /** false: removes the check. Default true. */
    enabled?: boolean;
    /** Failures in a row after which an address is down, over all workers of a gateway. */
    failures?: number;
    /** Statuses that count as failures, besides connections that cannot be opened or that break, and answers that are late. */
    statuses?: string[];
    /** Time after which a request tries an address that is down. */
    down_seconds?: number;
  };
  /** Checks that every gateway makes on every address. */
  active_check?: {
    /** false: removes the check. Default true. */
    enabled?: boolean;
    /** http: asks for a path. tcp: opens a connection, with its TLS handshake where the backend has TLS. */
    kind?: 'http' | 'tcp';
    /** Path of the GET request, for http. Max 1000 characters. */
    path?: string;
    /** The header Host of the check; by default, the address. */
    host?: string;
    /** Statuses that count as good, for http. */
    statuses?: string[];
    /** Time between two checks of one address by one gateway. */
    interval_seconds?: number;
    /** Time in which the answer must begin; not more than the interval. */
    timeout_seconds?: number;
    /** Failed checks in a row after which an address is down. */
    failures?: number;
    /** Good checks in a row after which an address is up again. */
    passes?: number;
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

export interface HttpResponseBackend {
  /** Unique identifier of the HTTP response backend. */
  id: string;
  /** URI of this backend's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Status of the answer, from 200 to 599. */
  status_code: number;
  /** Headers of the answer. */
  headers: Record<string, string>;
  /** Body of the answer, in UTF-8. Max 65536 bytes. Without a content-type among the headers it is plain text. */
  body: string;
}

export interface HttpResponseBackendCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Status of the answer, from 200 to 599. */
  status_code?: number;
  /** Headers of the answer. */
  headers?: Record<string, string>;
  /** Body of the answer, in UTF-8. Max 65536 bytes. Without a content-type among the headers it is plain text. */
  body?: string;
}

/** `headers` replaces all of them; {} keeps them, because official clients send it with every update. */
export interface HttpResponseBackendUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Status of the answer, from 200 to 599. */
  status_code?: number;
  /** Headers of the answer. */
  headers?: Record<string, string>;
  /** Body of the answer, in UTF-8. Max 65536 bytes. Without a content-type among the headers it is plain text. */
  body?: string;
}

/** An entry of http_response_backends in a configuration. */
export interface HttpResponseBackendEntry {
  /** Kind of the entry. */
  kind: 'http_response_backends';
  /** Name of the entry, unique among those that are named alike: 1 to 100 letters, digits, ".", "_" and "-", the first of them a letter or digit. It is kept apart from the resource, whose fields it does not touch. */
  name: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Status of the answer, from 200 to 599. */
  status_code?: number;
  /** Headers of the answer. */
  headers?: Record<string, string>;
  /** Body of the answer, in UTF-8. Max 65536 bytes. Without a content-type among the headers it is plain text. */
  body?: string;
}

export interface WeightedBackend {
  /** Unique identifier of the weighted backend. */
  id: string;
  /** URI of this backend's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Ids of backends by their weights, from 0 to 10000: each request or connection goes to one of them, as often as its weight says beside the others. A backend with the weight 0 gets nothing. */
  backends: Record<string, number>;
}

export interface WeightedBackendCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Ids of backends by their weights, from 0 to 10000: each request or connection goes to one of them, as often as its weight says beside the others. A backend with the weight 0 gets nothing. */
  backends: Record<string, number>;
}

/** `backends` replaces all of them, and what is chosen from then on; connections that are open stay. Empty keeps them. */
export interface WeightedBackendUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Ids of backends by their weights, from 0 to 10000: each request or connection goes to one of them, as often as its weight says beside the others. A backend with the weight 0 gets nothing. */
  backends?: Record<string, number>;
}

/** An entry of weighted_backends in a configuration. */
export interface WeightedBackendEntry {
  /** Kind of the entry. */
  kind: 'weighted_backends';
  /** Name of the entry, unique among those that are named alike: 1 to 100 letters, digits, ".", "_" and "-", the first of them a letter or digit. It is kept apart from the resource, whose fields it does not touch. */
  name: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Names of the backends that the weighted backend stands for. */
  backends: Record<string, number>;
}

export interface FailoverBackend {
  /** Unique identifier of the failover backend. */
  id: string;
  /** URI of this backend's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Ids of backends in order: each request or connection goes to the first that can be reached. One that could not be reached is tried after the others for five seconds. */
  backends: string[];
}

export interface FailoverBackendCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Ids of backends in order: each request or connection goes to the first that can be reached. One that could not be reached is tried after the others for five seconds. */
  backends: string[];
}

/** `backends` replaces all of them, and what is chosen from then on; connections that are open stay. Empty keeps them. */
export interface FailoverBackendUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Ids of backends in order: each request or connection goes to the first that can be reached. One that could not be reached is tried after the others for five seconds. */
  backends?: string[];
}

/** An entry of failover_backends in a configuration. */
export interface FailoverBackendEntry {
  /** Kind of the entry. */
  kind: 'failover_backends';
  /** Name of the entry, unique among those that are named alike: 1 to 100 letters, digits, ".", "_" and "-", the first of them a letter or digit. It is kept apart from the resource, whose fields it does not touch. */
  name: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Names of the backends that the failover backend stands for. */
  backends: string[];
}

export interface CertificateAuthority {
  /** Unique identifier of the certificate authority. */
  id: string;
  /** URI of this authority's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Certificate of the authority in PEM; several, up to 16, one after another. It cannot be changed. */
  ca_pem: string;
  /** Common name of the first certificate. */
  subject_common_name: string;
  /** From when the first certificate is valid. */
  not_before: string;
  /** Until when the first certificate is valid. */
  not_after: string;
  /** Uses that the key of the certificate is for. */
  key_usages: string[];
  /** Uses that the key of the certificate is for, in more detail. */
  extended_key_usages: string[];
}

export interface CertificateAuthorityCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Certificate of the authority in PEM; several, up to 16, one after another. It cannot be changed. */
  ca_pem: string;
}

export interface CertificateAuthorityUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
}

/** An entry of certificate_authorities in a configuration. */
export interface CertificateAuthorityEntry {
  /** Kind of the entry. */
  kind: 'certificate_authorities';
  /** Name of the entry, unique among those that are named alike: 1 to 100 letters, digits, ".", "_" and "-", the first of them a letter or digit. It is kept apart from the resource, whose fields it does not touch. */
  name: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** The certificate in PEM. It cannot be changed: declare another entry. */
  ca_pem: string;
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
  /** Policy module; null when it is not set. */
  policy: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** Rules for requests, or for connections to a TCP or TLS edge. They are kept as they were sent. */
    inbound: ({
      /** A name for people. */
      name?: string | number;
      /** The actions run if all of these are true. */
      expressions?: string[];
      /** Actions of the rule, in this order. */
      actions?: {
        /** Name of the action. */
        type?: string;
        /** Settings of the action, as its type asks for them. */
        config?: unknown;
      }[];
    })[];
    /** Rules for the answers of a route. They are kept as they were sent. */
    outbound: ({
      /** A name for people. */
      name?: string | number;
      /** The actions run if all of these are true. */
      expressions?: string[];
      /** Actions of the rule, in this order. */
      actions?: {
        /** Name of the action. */
        type?: string;
        /** Settings of the action, as its type asks for them. */
        config?: unknown;
      }[];
    })[];
  } | null;
  /** Traffic Policy module; null when it is not set. */
  traffic_policy: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** The policy, as YAML or JSON: phases (on_tcp_connect, on_http_request, on_http_response) with lists of rules, each with name, expressions and actions. It is kept to the byte. YAML may have 8 KiB with 700 lines, keys, items and brackets, JSON 256 KiB. */
    value: string;
  } | null;
  /** Rate Limit module; null when it is not set. */
  rate_limit: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** Requests, or connections of a TCP or TLS edge, that each may make within the window. */
    limit: number;
    /** Length of the window, which slides, in seconds. Max 86400. */
    window_seconds: number;
    /** The clients that are told apart: each "source" address (a /64 network of IPv6 is one source), each value of a "header", or each client "certificate" that was shown. Connections of TCP and TLS edges are counted by source. */
    by: 'source' | 'header' | 'certificate';
    /** Name of the header to count by. Requests without it are counted together. Clients choose their headers, so count by one that something else checks. */
    header: string | null;
    /** false: nobody is refused; metrics count what would have been refused. */
    enforced: boolean;
  } | null;
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
  rate_limit?: RateLimitModuleReplace;
  policy?: PolicyModuleReplace;
  traffic_policy?: TrafficPolicyModuleReplace;
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
  rate_limit?: RateLimitModuleReplace;
  policy?: PolicyModuleReplace;
  traffic_policy?: TrafficPolicyModuleReplace;
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
  /** Rate Limit module. */
  rate_limit?: {
    /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
    enabled?: boolean;
    /** Requests, or connections of a TCP or TLS edge, that each may make within the window. */
    limit: number;
    /** Length of the window, which slides, in seconds. Max 86400. */
    window_seconds: number;
    /** The clients that are told apart: each "source" address (a /64 network of IPv6 is one source), each value of a "header", or each client "certificate" that was shown. Connections of TCP and TLS edges are counted by source. */
    by?: 'source' | 'header' | 'certificate';
    /** Name of the header to count by. Requests without it are counted together. Clients choose their headers, so count by one that something else checks. */
    header?: string;
    /** false: nobody is refused; metrics count what would have been refused. */
    enforced?: boolean;
  };
  /** Policy module. */
  policy?: {
    /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
    enabled?: boolean;
    /** Rules for requests, or for connections to a TCP or TLS edge. They are kept as they were sent. */
    inbound?: ({
      /** A name for people. */
      name?: string | number;
      /** The actions run if all of these are true. */
      expressions?: string[];
      /** Actions of the rule, in this order. */
      actions?: {
        /** Name of the action. */
        type?: string;
        /** Settings of the action, as its type asks for them. */
        config?: unknown;
      }[];
    })[];
    /** Rules for the answers of a route. They are kept as they were sent. */
    outbound?: ({
      /** A name for people. */
      name?: string | number;
      /** The actions run if all of these are true. */
      expressions?: string[];
      /** Actions of the rule, in this order. */
      actions?: {
        /** Name of the action. */
        type?: string;
        /** Settings of the action, as its type asks for them. */
        config?: unknown;
      }[];
    })[];
  };
  /** Traffic Policy module. */
  traffic_policy?: {
    /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
    enabled?: boolean;
    /** The policy, as YAML or JSON: phases (on_tcp_connect, on_http_request, on_http_response) with lists of rules, each with name, expressions and actions. It is kept to the byte. YAML may have 8 KiB with 700 lines, keys, items and brackets, JSON 256 KiB. */
    value: string;
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
  /** Mutual TLS module; null when it is not set. */
  mutual_tls: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** The certificate authorities. A visitor must show a certificate of one of them. */
    certificate_authorities: Ref[];
  } | null;
  /** TLS Termination module; null when it is not set. */
  tls_termination: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** "edge": TLS ends at the gateway, and the backend gets the decrypted bytes. "upstream", for TLS edges only: the gateway passes the bytes on unread. */
    terminate_at: 'edge' | 'upstream';
    /** Lowest version of TLS that clients may speak, "1.2" or "1.3". Without it: 1.2. None where TLS ends upstream. */
    min_version: string | null;
  } | null;
  /** Rate Limit module; null when it is not set. */
  rate_limit: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** Requests, or connections of a TCP or TLS edge, that each may make within the window. */
    limit: number;
    /** Length of the window, which slides, in seconds. Max 86400. */
    window_seconds: number;
    /** The clients that are told apart: each "source" address (a /64 network of IPv6 is one source), each value of a "header", or each client "certificate" that was shown. Connections of TCP and TLS edges are counted by source. */
    by: 'source' | 'header' | 'certificate';
    /** Name of the header to count by. Requests without it are counted together. Clients choose their headers, so count by one that something else checks. */
    header: string | null;
    /** false: nobody is refused; metrics count what would have been refused. */
    enforced: boolean;
  } | null;
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
  rate_limit?: RateLimitModuleReplace;
  mutual_tls?: MutualTlsModuleReplace;
  tls_termination?: TlsTerminationModuleReplace;
}

/** `hostports` replaces the whole list. A module that is given replaces the old one whole. */
export interface HttpsEdgeUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where the edge is reached, as hostname:port. The port is the one that the gateway serves HTTPS on. A host name belongs to one edge of the installation; its first label may be "*", which stands for any one label. */
  hostports?: string[];
  rate_limit?: RateLimitModuleReplace;
  mutual_tls?: MutualTlsModuleReplace;
  tls_termination?: TlsTerminationModuleReplace;
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
  /** Circuit Breaker module; null when it is not set. */
  circuit_breaker: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** Seconds without requests after the circuit has opened; then one request is tried. 0 means 10. */
    tripped_duration: number;
    /** Seconds over which answers are counted. 0 means 10. */
    rolling_window: number;
    /** Parts of the rolling window, which expire one by one. Max 128. 0 means 10. */
    num_buckets: number;
    /** Requests within the window below which the circuit stays closed. 0 means 10. */
    volume_threshold: number;
    /** Share of failing answers (500 and above), from 0 to 1, above which the circuit opens. */
    error_threshold_percentage: number;
  } | null;
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
  /** Webhook Verification module; null when it is not set. */
  webhook_verification: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** The sender of the webhooks: one of the ids in docs/webhooks.md, in upper or lower case. */
    provider: string;
  } | null;
  /** OAuth module; null when it is not set. */
  oauth: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** true: requests with the method OPTIONS, such as CORS preflights, need no login. */
    options_passthrough: boolean;
    /** The name of the session cookie begins with it, after "__Host-". Max 64 bytes. */
    cookie_prefix: string;
    /** Seconds without use after which a session ends. 0: no such limit. */
    inactivity_timeout: number;
    /** Seconds after the login at which a session ends. 0: 14 days. At most a year. */
    maximum_duration: number;
    /** Seconds after which Gatehouse asks the provider again whether the login still holds. 0: never. */
    auth_check_interval: number;
    /** Groups whose members may enter. */
    groups: string[];
    /** Claims that a visitor must have as well, each with one of these values. */
    claims: Record<string, string[]>;
    /** true: e-mail addresses count even if the provider does not say that it has verified them. Use it only for a provider where nobody can choose an address. */
    unverified_email: boolean;
    /** any: a login, from everywhere. or_login: visitors whom the IP policies allow need no login, all others do. and_login: only visitors whom the IP policies allow, and only after a login. */
    network: 'any' | 'or_login' | 'and_login';
    /** The IP policies of the trusted network. */
    ip_policies: Ref[];
    /** true: the upstream also gets a signed token (JWT) in `Gatehouse-User-Token`, to be checked with the keys at `/.gatehouse/jwks.json` of the same host. */
    upstream_token: boolean;
    /** The settings of the provider; the secret of the client is never shown. */
    provider: {
      /** Null but for the one that is set. */
      github: {
        /** Id of the client that was registered at the provider. Max 255 bytes. */
        client_id?: string;
        /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
        scopes?: string[];
        /** E-mail addresses that may enter, if the provider has verified them. */
        email_addresses?: string[];
        /** Domains of verified e-mail addresses that may enter. */
        email_domains?: string[];
        /** GitHub only: organizations whose members may enter. */
        organizations?: string[];
        /** GitHub only: teams whose members may enter, as organization/team. */
        teams?: string[];
      } | null;
      /** Null but for the one that is set. */
      facebook: {
        /** Id of the client that was registered at the provider. Max 255 bytes. */
        client_id?: string;
        /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
        scopes?: string[];
        /** E-mail addresses that may enter, if the provider has verified them. */
        email_addresses?: string[];
        /** Domains of verified e-mail addresses that may enter. */
        email_domains?: string[];
        /** GitHub only: organizations whose members may enter. */
        organizations?: string[];
        /** GitHub only: teams whose members may enter, as organization/team. */
        teams?: string[];
      } | null;
      /** Null but for the one that is set. */
      microsoft: {
        /** Id of the client that was registered at the provider. Max 255 bytes. */
        client_id?: string;
        /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
        scopes?: string[];
        /** E-mail addresses that may enter, if the provider has verified them. */
        email_addresses?: string[];
        /** Domains of verified e-mail addresses that may enter. */
        email_domains?: string[];
        /** GitHub only: organizations whose members may enter. */
        organizations?: string[];
        /** GitHub only: teams whose members may enter, as organization/team. */
        teams?: string[];
      } | null;
      /** Null but for the one that is set. */
      google: {
        /** Id of the client that was registered at the provider. Max 255 bytes. */
        client_id?: string;
        /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
        scopes?: string[];
        /** E-mail addresses that may enter, if the provider has verified them. */
        email_addresses?: string[];
        /** Domains of verified e-mail addresses that may enter. */
        email_domains?: string[];
        /** GitHub only: organizations whose members may enter. */
        organizations?: string[];
        /** GitHub only: teams whose members may enter, as organization/team. */
        teams?: string[];
      } | null;
      /** Null but for the one that is set. */
      linkedin: {
        /** Id of the client that was registered at the provider. Max 255 bytes. */
        client_id?: string;
        /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
        scopes?: string[];
        /** E-mail addresses that may enter, if the provider has verified them. */
        email_addresses?: string[];
        /** Domains of verified e-mail addresses that may enter. */
        email_domains?: string[];
        /** GitHub only: organizations whose members may enter. */
        organizations?: string[];
        /** GitHub only: teams whose members may enter, as organization/team. */
        teams?: string[];
      } | null;
      /** Null but for the one that is set. */
      gitlab: {
        /** Id of the client that was registered at the provider. Max 255 bytes. */
        client_id?: string;
        /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
        scopes?: string[];
        /** E-mail addresses that may enter, if the provider has verified them. */
        email_addresses?: string[];
        /** Domains of verified e-mail addresses that may enter. */
        email_domains?: string[];
        /** GitHub only: organizations whose members may enter. */
        organizations?: string[];
        /** GitHub only: teams whose members may enter, as organization/team. */
        teams?: string[];
      } | null;
      /** Null but for the one that is set. */
      twitch: {
        /** Id of the client that was registered at the provider. Max 255 bytes. */
        client_id?: string;
        /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
        scopes?: string[];
        /** E-mail addresses that may enter, if the provider has verified them. */
        email_addresses?: string[];
        /** Domains of verified e-mail addresses that may enter. */
        email_domains?: string[];
        /** GitHub only: organizations whose members may enter. */
        organizations?: string[];
        /** GitHub only: teams whose members may enter, as organization/team. */
        teams?: string[];
      } | null;
      /** Null but for the one that is set. */
      amazon: {
        /** Id of the client that was registered at the provider. Max 255 bytes. */
        client_id?: string;
        /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
        scopes?: string[];
        /** E-mail addresses that may enter, if the provider has verified them. */
        email_addresses?: string[];
        /** Domains of verified e-mail addresses that may enter. */
        email_domains?: string[];
        /** GitHub only: organizations whose members may enter. */
        organizations?: string[];
        /** GitHub only: teams whose members may enter, as organization/team. */
        teams?: string[];
      } | null;
    };
  } | null;
  /** Not offered; always null. */
  saml: null;
  /** OIDC module; null when it is not set. */
  oidc: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** true: requests with the method OPTIONS, such as CORS preflights, need no login. */
    options_passthrough: boolean;
    /** The name of the session cookie begins with it, after "__Host-". Max 64 bytes. */
    cookie_prefix: string;
    /** Seconds without use after which a session ends. 0: no such limit. */
    inactivity_timeout: number;
    /** Seconds after the login at which a session ends. 0: 14 days. At most a year. */
    maximum_duration: number;
    /** Seconds after which Gatehouse asks the provider again whether the login still holds. 0: never. */
    auth_check_interval: number;
    /** Groups whose members may enter. */
    groups: string[];
    /** Claims that a visitor must have as well, each with one of these values. */
    claims: Record<string, string[]>;
    /** true: e-mail addresses count even if the provider does not say that it has verified them. Use it only for a provider where nobody can choose an address. */
    unverified_email: boolean;
    /** any: a login, from everywhere. or_login: visitors whom the IP policies allow need no login, all others do. and_login: only visitors whom the IP policies allow, and only after a login. */
    network: 'any' | 'or_login' | 'and_login';
    /** The IP policies of the trusted network. */
    ip_policies: Ref[];
    /** true: the upstream also gets a signed token (JWT) in `Gatehouse-User-Token`, to be checked with the keys at `/.gatehouse/jwks.json` of the same host. */
    upstream_token: boolean;
    /** E-mail addresses that may enter, if the provider has verified them. */
    email_addresses: string[];
    /** Domains of verified e-mail addresses that may enter. */
    email_domains: string[];
    /** URL of the OpenID provider, exactly as it names itself. https, or http on this machine. Max 1024 bytes. */
    issuer: string;
    /** Id of the client that was registered at the provider. Max 255 bytes. */
    client_id: string;
    /** Scopes to ask the provider for; openid is always among them. Default: openid, profile, email. */
    scopes: string[];
    /** The claim that contains the groups of a visitor. Max 255 bytes. */
    groups_claim: string;
  } | null;
  /** WebSocket TCP Converter module; null when it is not set. */
  websocket_tcp_converter: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
  } | null;
  /** User Agent Filter module; null when it is not set. */
  user_agent_filter: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** Regular expressions. One of them must match; if there are none, every user agent may pass. */
    allow: string[];
    /** Regular expressions. If one of them matches, the request is refused. */
    deny: string[];
  } | null;
  /** Policy module; null when it is not set. */
  policy: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** Rules for requests, or for connections to a TCP or TLS edge. They are kept as they were sent. */
    inbound: ({
      /** A name for people. */
      name?: string | number;
      /** The actions run if all of these are true. */
      expressions?: string[];
      /** Actions of the rule, in this order. */
      actions?: {
        /** Name of the action. */
        type?: string;
        /** Settings of the action, as its type asks for them. */
        config?: unknown;
      }[];
    })[];
    /** Rules for the answers of a route. They are kept as they were sent. */
    outbound: ({
      /** A name for people. */
      name?: string | number;
      /** The actions run if all of these are true. */
      expressions?: string[];
      /** Actions of the rule, in this order. */
      actions?: {
        /** Name of the action. */
        type?: string;
        /** Settings of the action, as its type asks for them. */
        config?: unknown;
      }[];
    })[];
  } | null;
  /** Traffic Policy module; null when it is not set. */
  traffic_policy: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** The policy, as YAML or JSON: phases (on_tcp_connect, on_http_request, on_http_response) with lists of rules, each with name, expressions and actions. It is kept to the byte. YAML may have 8 KiB with 700 lines, keys, items and brackets, JSON 256 KiB. */
    value: string;
  } | null;
  /** Rate Limit module; null when it is not set. */
  rate_limit: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** Requests, or connections of a TCP or TLS edge, that each may make within the window. */
    limit: number;
    /** Length of the window, which slides, in seconds. Max 86400. */
    window_seconds: number;
    /** The clients that are told apart: each "source" address (a /64 network of IPv6 is one source), each value of a "header", or each client "certificate" that was shown. Connections of TCP and TLS edges are counted by source. */
    by: 'source' | 'header' | 'certificate';
    /** Name of the header to count by. Requests without it are counted together. Clients choose their headers, so count by one that something else checks. */
    header: string | null;
    /** false: nobody is refused; metrics count what would have been refused. */
    enforced: boolean;
  } | null;
  /** Basic Auth module; null when it is not set. */
  basic_auth: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** The names; passwords are never shown. */
    credentials: {
      /** The name. It must not be empty or contain ":". Max 255 bytes. */
      username: string;
    }[];
  } | null;
  /** JWT Validation module; null when it is not set. */
  jwt_validation: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** The issuer (`iss`) that tokens must have, exactly. Max 1024 bytes. */
    issuer: string;
    /** A token must be for one of these audiences (`aud`). At least one. */
    audiences: string[];
    /** Algorithms that signatures may have. Default: RS256 and ES256. */
    algorithms: ('RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512' | 'ES256' | 'ES384' | 'ES512' | 'EdDSA')[];
    /** Where the keys of the issuer are. Empty: where its OpenID metadata say. Max 1024 bytes. */
    jwks_uri: string;
    /** Seconds by which clocks may differ. */
    clock_skew: number;
    /** The header with the token: authorization (after "Bearer"), or another one that contains only the token. Max 255 bytes. */
    header: string;
    /** Claims that a token must have, each with one of these values. */
    claims: Record<string, string[]>;
  } | null;
  /** Redirect module; null when it is not set. */
  redirect: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** Where visitors are sent: a path, or a URL of http or https. It has no placeholders: "${…}" is plain text. */
    to: string;
    /** 301, 302, 303, 307 or 308. 307 and 308 keep method and body; 301 and 308 are remembered by browsers. */
    status_code: number;
    /** true: path and query of the request are appended. */
    keep_path: boolean;
  } | null;
  /** Path Rewrite module; null when it is not set. */
  path_rewrite: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** Removed from the start of the path, in whole segments: "/api" makes "/x" of "/api/x". A path that does not begin with it stays as it is. */
    strip_prefix: string;
    /** Added before the rest of the path. */
    add_prefix: string;
  } | null;
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
  rate_limit?: RateLimitModuleReplace;
  user_agent_filter?: UserAgentFilterModuleReplace;
  basic_auth?: BasicAuthModuleReplace;
  jwt_validation?: JwtValidationModuleReplace;
  oauth?: OauthModuleReplace;
  oidc?: OidcModuleReplace;
  webhook_verification?: WebhookVerificationModuleReplace;
  policy?: PolicyModuleReplace;
  traffic_policy?: TrafficPolicyModuleReplace;
  circuit_breaker?: CircuitBreakerModuleReplace;
  websocket_tcp_converter?: WebsocketTcpConverterModuleReplace;
  redirect?: RedirectModuleReplace;
  backend?: BackendModuleReplace;
  path_rewrite?: PathRewriteModuleReplace;
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
  rate_limit?: RateLimitModuleReplace;
  user_agent_filter?: UserAgentFilterModuleReplace;
  basic_auth?: BasicAuthModuleReplace;
  jwt_validation?: JwtValidationModuleReplace;
  oauth?: OauthModuleReplace;
  oidc?: OidcModuleReplace;
  webhook_verification?: WebhookVerificationModuleReplace;
  policy?: PolicyModuleReplace;
  traffic_policy?: TrafficPolicyModuleReplace;
  circuit_breaker?: CircuitBreakerModuleReplace;
  websocket_tcp_converter?: WebsocketTcpConverterModuleReplace;
  redirect?: RedirectModuleReplace;
  backend?: BackendModuleReplace;
  path_rewrite?: PathRewriteModuleReplace;
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
  /** Rate Limit module. */
  rate_limit?: {
    /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
    enabled?: boolean;
    /** Requests, or connections of a TCP or TLS edge, that each may make within the window. */
    limit: number;
    /** Length of the window, which slides, in seconds. Max 86400. */
    window_seconds: number;
    /** The clients that are told apart: each "source" address (a /64 network of IPv6 is one source), each value of a "header", or each client "certificate" that was shown. Connections of TCP and TLS edges are counted by source. */
    by?: 'source' | 'header' | 'certificate';
    /** Name of the header to count by. Requests without it are counted together. Clients choose their headers, so count by one that something else checks. */
    header?: string;
    /** false: nobody is refused; metrics count what would have been refused. */
    enforced?: boolean;
  };
  /** Mutual TLS module. */
  mutual_tls?: {
    /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
    enabled?: boolean;
    /** Names of the certificate authorities. */
    certificate_authorities: string[];
  };
  /** TLS Termination module. */
  tls_termination?: {
    /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
    enabled?: boolean;
    /** "edge": TLS ends at the gateway, and the backend gets the decrypted bytes. "upstream", for TLS edges only: the gateway passes the bytes on unread. */
    terminate_at?: 'edge' | 'upstream';
    /** Lowest version of TLS that clients may speak, "1.2" or "1.3". Without it: 1.2. None where TLS ends upstream. */
    min_version?: '1.2' | '1.3';
  };
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
    /** Rate Limit module. */
    rate_limit?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
      /** Requests, or connections of a TCP or TLS edge, that each may make within the window. */
      limit: number;
      /** Length of the window, which slides, in seconds. Max 86400. */
      window_seconds: number;
      /** The clients that are told apart: each "source" address (a /64 network of IPv6 is one source), each value of a "header", or each client "certificate" that was shown. Connections of TCP and TLS edges are counted by source. */
      by?: 'source' | 'header' | 'certificate';
      /** Name of the header to count by. Requests without it are counted together. Clients choose their headers, so count by one that something else checks. */
      header?: string;
      /** false: nobody is refused; metrics count what would have been refused. */
      enforced?: boolean;
    };
    /** User Agent Filter module. */
    user_agent_filter?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
      /** Regular expressions. One of them must match; if there are none, every user agent may pass. */
      allow?: string[];
      /** Regular expressions. If one of them matches, the request is refused. */
      deny?: string[];
    };
    /** Basic Auth module. */
    basic_auth?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
      /** Names and passwords. A visitor must give one of them. At least one. */
      credentials: {
        /** The name. It must not be empty or contain ":". Max 255 bytes. */
        username: string;
        /** Never shown again: a hash of it is stored. If it is left out, the one stored for the name stays. At least 8 characters, max 255 bytes. */
        password?: string;
      }[];
    };
    /** JWT Validation module. */
    jwt_validation?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
      /** The issuer (`iss`) that tokens must have, exactly. Max 1024 bytes. */
      issuer: string;
      /** A token must be for one of these audiences (`aud`). At least one. */
      audiences: string[];
      /** Algorithms that signatures may have. Default: RS256 and ES256. */
      algorithms?: ('RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512' | 'ES256' | 'ES384' | 'ES512' | 'EdDSA')[];
      /** Where the keys of the issuer are. Empty: where its OpenID metadata say. Max 1024 bytes. */
      jwks_uri?: string;
      /** Seconds by which clocks may differ. */
      clock_skew?: number;
      /** The header with the token: authorization (after "Bearer"), or another one that contains only the token. Max 255 bytes. */
      header?: string;
      /** Claims that a token must have, each with one of these values. */
      claims?: Record<string, string[]>;
    };
    /** OAuth module. */
    oauth?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
      /** true: requests with the method OPTIONS, such as CORS preflights, need no login. */
      options_passthrough?: boolean;
      /** The name of the session cookie begins with it, after "__Host-". Max 64 bytes. */
      cookie_prefix?: string;
      /** Seconds without use after which a session ends. 0: no such limit. */
      inactivity_timeout?: number;
      /** Seconds after the login at which a session ends. 0: 14 days. At most a year. */
      maximum_duration?: number;
      /** Seconds after which Gatehouse asks the provider again whether the login still holds. 0: never. */
      auth_check_interval?: number;
      /** Groups whose members may enter. */
      groups?: string[];
      /** Claims that a visitor must have as well, each with one of these values. */
      claims?: Record<string, string[]>;
      /** true: e-mail addresses count even if the provider does not say that it has verified them. Use it only for a provider where nobody can choose an address. */
      unverified_email?: boolean;
      /** any: a login, from everywhere. or_login: visitors whom the IP policies allow need no login, all others do. and_login: only visitors whom the IP policies allow, and only after a login. */
      network?: 'any' | 'or_login' | 'and_login';
      /** true: the upstream also gets a signed token (JWT) in `Gatehouse-User-Token`, to be checked with the keys at `/.gatehouse/jwks.json` of the same host. */
      upstream_token?: boolean;
      /** The settings of one provider, by its name. */
      provider: {
        /** The settings of this provider. */
        github?: {
          /** Id of the client that was registered at the provider. Max 255 bytes. */
          client_id: string;
          /** Never shown again. If it is left out, the stored one stays while provider and client are the same. Max 4096 bytes. */
          client_secret?: string;
          /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
          scopes?: string[];
          /** E-mail addresses that may enter, if the provider has verified them. */
          email_addresses?: string[];
          /** Domains of verified e-mail addresses that may enter. */
          email_domains?: string[];
          /** GitHub only: organizations whose members may enter. */
          organizations?: string[];
          /** GitHub only: teams whose members may enter, as organization/team. */
          teams?: string[];
        };
        /** The settings of this provider. */
        facebook?: {
          /** Id of the client that was registered at the provider. Max 255 bytes. */
          client_id: string;
          /** Never shown again. If it is left out, the stored one stays while provider and client are the same. Max 4096 bytes. */
          client_secret?: string;
          /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
          scopes?: string[];
          /** E-mail addresses that may enter, if the provider has verified them. */
          email_addresses?: string[];
          /** Domains of verified e-mail addresses that may enter. */
          email_domains?: string[];
          /** GitHub only: organizations whose members may enter. */
          organizations?: string[];
          /** GitHub only: teams whose members may enter, as organization/team. */
          teams?: string[];
        };
        /** The settings of this provider. */
        microsoft?: {
          /** Id of the client that was registered at the provider. Max 255 bytes. */
          client_id: string;
          /** Never shown again. If it is left out, the stored one stays while provider and client are the same. Max 4096 bytes. */
          client_secret?: string;
          /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
          scopes?: string[];
          /** E-mail addresses that may enter, if the provider has verified them. */
          email_addresses?: string[];
          /** Domains of verified e-mail addresses that may enter. */
          email_domains?: string[];
          /** GitHub only: organizations whose members may enter. */
          organizations?: string[];
          /** GitHub only: teams whose members may enter, as organization/team. */
          teams?: string[];
        };
        /** The settings of this provider. */
        google?: {
          /** Id of the client that was registered at the provider. Max 255 bytes. */
          client_id: string;
          /** Never shown again. If it is left out, the stored one stays while provider and client are the same. Max 4096 bytes. */
          client_secret?: string;
          /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
          scopes?: string[];
          /** E-mail addresses that may enter, if the provider has verified them. */
          email_addresses?: string[];
          /** Domains of verified e-mail addresses that may enter. */
          email_domains?: string[];
          /** GitHub only: organizations whose members may enter. */
          organizations?: string[];
          /** GitHub only: teams whose members may enter, as organization/team. */
          teams?: string[];
        };
        /** The settings of this provider. */
        linkedin?: {
          /** Id of the client that was registered at the provider. Max 255 bytes. */
          client_id: string;
          /** Never shown again. If it is left out, the stored one stays while provider and client are the same. Max 4096 bytes. */
          client_secret?: string;
          /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
          scopes?: string[];
          /** E-mail addresses that may enter, if the provider has verified them. */
          email_addresses?: string[];
          /** Domains of verified e-mail addresses that may enter. */
          email_domains?: string[];
          /** GitHub only: organizations whose members may enter. */
          organizations?: string[];
          /** GitHub only: teams whose members may enter, as organization/team. */
          teams?: string[];
        };
        /** The settings of this provider. */
        gitlab?: {
          /** Id of the client that was registered at the provider. Max 255 bytes. */
          client_id: string;
          /** Never shown again. If it is left out, the stored one stays while provider and client are the same. Max 4096 bytes. */
          client_secret?: string;
          /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
          scopes?: string[];
          /** E-mail addresses that may enter, if the provider has verified them. */
          email_addresses?: string[];
          /** Domains of verified e-mail addresses that may enter. */
          email_domains?: string[];
          /** GitHub only: organizations whose members may enter. */
          organizations?: string[];
          /** GitHub only: teams whose members may enter, as organization/team. */
          teams?: string[];
        };
        /** The settings of this provider. */
        twitch?: {
          /** Id of the client that was registered at the provider. Max 255 bytes. */
          client_id: string;
          /** Never shown again. If it is left out, the stored one stays while provider and client are the same. Max 4096 bytes. */
          client_secret?: string;
          /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
          scopes?: string[];
          /** E-mail addresses that may enter, if the provider has verified them. */
          email_addresses?: string[];
          /** Domains of verified e-mail addresses that may enter. */
          email_domains?: string[];
          /** GitHub only: organizations whose members may enter. */
          organizations?: string[];
          /** GitHub only: teams whose members may enter, as organization/team. */
          teams?: string[];
        };
        /** The settings of this provider. */
        amazon?: {
          /** Id of the client that was registered at the provider. Max 255 bytes. */
          client_id: string;
          /** Never shown again. If it is left out, the stored one stays while provider and client are the same. Max 4096 bytes. */
          client_secret?: string;
          /** Scopes to ask the provider for. Default: those that tell name, address and groups. */
          scopes?: string[];
          /** E-mail addresses that may enter, if the provider has verified them. */
          email_addresses?: string[];
          /** Domains of verified e-mail addresses that may enter. */
          email_domains?: string[];
          /** GitHub only: organizations whose members may enter. */
          organizations?: string[];
          /** GitHub only: teams whose members may enter, as organization/team. */
          teams?: string[];
        };
      };
      /** Names of the IP policies. */
      ip_policies?: string[];
    };
    /** OIDC module. */
    oidc?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
      /** true: requests with the method OPTIONS, such as CORS preflights, need no login. */
      options_passthrough?: boolean;
      /** The name of the session cookie begins with it, after "__Host-". Max 64 bytes. */
      cookie_prefix?: string;
      /** Seconds without use after which a session ends. 0: no such limit. */
      inactivity_timeout?: number;
      /** Seconds after the login at which a session ends. 0: 14 days. At most a year. */
      maximum_duration?: number;
      /** Seconds after which Gatehouse asks the provider again whether the login still holds. 0: never. */
      auth_check_interval?: number;
      /** Groups whose members may enter. */
      groups?: string[];
      /** Claims that a visitor must have as well, each with one of these values. */
      claims?: Record<string, string[]>;
      /** true: e-mail addresses count even if the provider does not say that it has verified them. Use it only for a provider where nobody can choose an address. */
      unverified_email?: boolean;
      /** any: a login, from everywhere. or_login: visitors whom the IP policies allow need no login, all others do. and_login: only visitors whom the IP policies allow, and only after a login. */
      network?: 'any' | 'or_login' | 'and_login';
      /** true: the upstream also gets a signed token (JWT) in `Gatehouse-User-Token`, to be checked with the keys at `/.gatehouse/jwks.json` of the same host. */
      upstream_token?: boolean;
      /** E-mail addresses that may enter, if the provider has verified them. */
      email_addresses?: string[];
      /** Domains of verified e-mail addresses that may enter. */
      email_domains?: string[];
      /** URL of the OpenID provider, exactly as it names itself. https, or http on this machine. Max 1024 bytes. */
      issuer: string;
      /** Id of the client that was registered at the provider. Max 255 bytes. */
      client_id: string;
      /** Never shown again. If it is left out, the stored one stays while issuer and client are the same. Max 4096 bytes. */
      client_secret?: string;
      /** Scopes to ask the provider for; openid is always among them. Default: openid, profile, email. */
      scopes?: string[];
      /** The claim that contains the groups of a visitor. Max 255 bytes. */
      groups_claim?: string;
      /** Names of the IP policies. */
      ip_policies?: string[];
    };
    /** Webhook Verification module. */
    webhook_verification?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
      /** The sender of the webhooks: one of the ids in docs/webhooks.md, in upper or lower case. */
      provider: string;
      /** Secret that the provider signs with, as it shows it; for SendGrid its public key, for VMware "name::password". Never shown again. If it is left out, the one stored for the provider stays. Max 4096 bytes. */
      secret?: string;
    };
    /** Policy module. */
    policy?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
      /** Rules for requests, or for connections to a TCP or TLS edge. They are kept as they were sent. */
      inbound?: ({
        /** A name for people. */
        name?: string | number;
        /** The actions run if all of these are true. */
        expressions?: string[];
        /** Actions of the rule, in this order. */
        actions?: {
          /** Name of the action. */
          type?: string;
          /** Settings of the action, as its type asks for them. */
          config?: unknown;
        }[];
      })[];
      /** Rules for the answers of a route. They are kept as they were sent. */
      outbound?: ({
        /** A name for people. */
        name?: string | number;
        /** The actions run if all of these are true. */
        expressions?: string[];
        /** Actions of the rule, in this order. */
        actions?: {
          /** Name of the action. */
          type?: string;
          /** Settings of the action, as its type asks for them. */
          config?: unknown;
        }[];
      })[];
    };
    /** Traffic Policy module. */
    traffic_policy?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
      /** The policy, as YAML or JSON: phases (on_tcp_connect, on_http_request, on_http_response) with lists of rules, each with name, expressions and actions. It is kept to the byte. YAML may have 8 KiB with 700 lines, keys, items and brackets, JSON 256 KiB. */
      value: string;
    };
    /** Circuit Breaker module. */
    circuit_breaker?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
      /** Seconds without requests after the circuit has opened; then one request is tried. 0 means 10. */
      tripped_duration?: number;
      /** Seconds over which answers are counted. 0 means 10. */
      rolling_window?: number;
      /** Parts of the rolling window, which expire one by one. Max 128. 0 means 10. */
      num_buckets?: number;
      /** Requests within the window below which the circuit stays closed. 0 means 10. */
      volume_threshold?: number;
      /** Share of failing answers (500 and above), from 0 to 1, above which the circuit opens. */
      error_threshold_percentage?: number;
    };
    /** WebSocket TCP Converter module. */
    websocket_tcp_converter?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
    };
    /** Redirect module. */
    redirect?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
      /** Where visitors are sent: a path, or a URL of http or https. It has no placeholders: "${…}" is plain text. */
      to: string;
      /** 301, 302, 303, 307 or 308. 307 and 308 keep method and body; 301 and 308 are remembered by browsers. */
      status_code?: 301 | 302 | 303 | 307 | 308;
      /** true: path and query of the request are appended. */
      keep_path?: boolean;
    };
    /** Backend module. */
    backend?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
      /** Name of a backend. */
      backend: string;
    };
    /** Path Rewrite module. */
    path_rewrite?: {
      /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
      enabled?: boolean;
      /** Removed from the start of the path, in whole segments: "/api" makes "/x" of "/api/x". A path that does not begin with it stays as it is. */
      strip_prefix?: string;
      /** Added before the rest of the path. */
      add_prefix?: string;
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

export interface TlsEdge {
  /** Unique identifier of the TLS edge. */
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
  /** Mutual TLS module; null when it is not set. */
  mutual_tls: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** The certificate authorities. A visitor must show a certificate of one of them. */
    certificate_authorities: Ref[];
  } | null;
  /** TLS Termination module; null when it is not set. */
  tls_termination: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** "edge": TLS ends at the gateway, and the backend gets the decrypted bytes. "upstream", for TLS edges only: the gateway passes the bytes on unread. */
    terminate_at: 'edge' | 'upstream';
    /** Lowest version of TLS that clients may speak, "1.2" or "1.3". Without it: 1.2. None where TLS ends upstream. */
    min_version: string | null;
  } | null;
  /** Policy module; null when it is not set. */
  policy: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** Rules for requests, or for connections to a TCP or TLS edge. They are kept as they were sent. */
    inbound: ({
      /** A name for people. */
      name?: string | number;
      /** The actions run if all of these are true. */
      expressions?: string[];
      /** Actions of the rule, in this order. */
      actions?: {
        /** Name of the action. */
        type?: string;
        /** Settings of the action, as its type asks for them. */
        config?: unknown;
      }[];
    })[];
    /** Rules for the answers of a route. They are kept as they were sent. */
    outbound: ({
      /** A name for people. */
      name?: string | number;
      /** The actions run if all of these are true. */
      expressions?: string[];
      /** Actions of the rule, in this order. */
      actions?: {
        /** Name of the action. */
        type?: string;
        /** Settings of the action, as its type asks for them. */
        config?: unknown;
      }[];
    })[];
  } | null;
  /** Traffic Policy module; null when it is not set. */
  traffic_policy: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** The policy, as YAML or JSON: phases (on_tcp_connect, on_http_request, on_http_response) with lists of rules, each with name, expressions and actions. It is kept to the byte. YAML may have 8 KiB with 700 lines, keys, items and brackets, JSON 256 KiB. */
    value: string;
  } | null;
  /** Rate Limit module; null when it is not set. */
  rate_limit: {
    /** true: the module is applied to traffic. false: disabled. */
    enabled: boolean;
    /** Requests, or connections of a TCP or TLS edge, that each may make within the window. */
    limit: number;
    /** Length of the window, which slides, in seconds. Max 86400. */
    window_seconds: number;
    /** The clients that are told apart: each "source" address (a /64 network of IPv6 is one source), each value of a "header", or each client "certificate" that was shown. Connections of TCP and TLS edges are counted by source. */
    by: 'source' | 'header' | 'certificate';
    /** Name of the header to count by. Requests without it are counted together. Clients choose their headers, so count by one that something else checks. */
    header: string | null;
    /** false: nobody is refused; metrics count what would have been refused. */
    enforced: boolean;
  } | null;
}

/** Without the module `tls_termination` TLS is passed on to the backend unread. */
export interface TlsEdgeCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where the edge is reached, as hostname:port. The port is the one that the gateway serves HTTPS on: the gateway distinguishes connections by the name in their TLS handshake. A host name belongs to one edge of the installation; its first label may be "*", which stands for any one label. */
  hostports?: string[];
  ip_restriction?: IpRestrictionModuleReplace;
  rate_limit?: RateLimitModuleReplace;
  mutual_tls?: MutualTlsModuleReplace;
  tls_termination?: TlsTerminationModuleReplace;
  policy?: PolicyModuleReplace;
  traffic_policy?: TrafficPolicyModuleReplace;
  backend?: BackendModuleReplace;
}

/** `hostports` replaces the whole list. A module that is given replaces the old one whole. */
export interface TlsEdgeUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where the edge is reached, as hostname:port. The port is the one that the gateway serves HTTPS on: the gateway distinguishes connections by the name in their TLS handshake. A host name belongs to one edge of the installation; its first label may be "*", which stands for any one label. */
  hostports?: string[];
  ip_restriction?: IpRestrictionModuleReplace;
  rate_limit?: RateLimitModuleReplace;
  mutual_tls?: MutualTlsModuleReplace;
  tls_termination?: TlsTerminationModuleReplace;
  policy?: PolicyModuleReplace;
  traffic_policy?: TrafficPolicyModuleReplace;
  backend?: BackendModuleReplace;
}

/** An entry of tls_edges in a configuration. */
export interface TlsEdgeEntry {
  /** Kind of the entry. */
  kind: 'tls_edges';
  /** Name of the entry, unique among those that are named alike: 1 to 100 letters, digits, ".", "_" and "-", the first of them a letter or digit. It is kept apart from the resource, whose fields it does not touch. */
  name: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where the edge is reached, as hostname:port. */
  hostports?: string[];
  /** IP Restriction module. */
  ip_restriction?: {
    /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
    enabled?: boolean;
    /** Names of the IP policies. */
    ip_policies: string[];
  };
  /** Rate Limit module. */
  rate_limit?: {
    /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
    enabled?: boolean;
    /** Requests, or connections of a TCP or TLS edge, that each may make within the window. */
    limit: number;
    /** Length of the window, which slides, in seconds. Max 86400. */
    window_seconds: number;
    /** The clients that are told apart: each "source" address (a /64 network of IPv6 is one source), each value of a "header", or each client "certificate" that was shown. Connections of TCP and TLS edges are counted by source. */
    by?: 'source' | 'header' | 'certificate';
    /** Name of the header to count by. Requests without it are counted together. Clients choose their headers, so count by one that something else checks. */
    header?: string;
    /** false: nobody is refused; metrics count what would have been refused. */
    enforced?: boolean;
  };
  /** Mutual TLS module. */
  mutual_tls?: {
    /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
    enabled?: boolean;
    /** Names of the certificate authorities. */
    certificate_authorities: string[];
  };
  /** TLS Termination module. */
  tls_termination?: {
    /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
    enabled?: boolean;
    /** "edge": TLS ends at the gateway, and the backend gets the decrypted bytes. "upstream", for TLS edges only: the gateway passes the bytes on unread. */
    terminate_at?: 'edge' | 'upstream';
    /** Lowest version of TLS that clients may speak, "1.2" or "1.3". Without it: 1.2. None where TLS ends upstream. */
    min_version?: '1.2' | '1.3';
  };
  /** Policy module. */
  policy?: {
    /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
    enabled?: boolean;
    /** Rules for requests, or for connections to a TCP or TLS edge. They are kept as they were sent. */
    inbound?: ({
      /** A name for people. */
      name?: string | number;
      /** The actions run if all of these are true. */
      expressions?: string[];
      /** Actions of the rule, in this order. */
      actions?: {
        /** Name of the action. */
        type?: string;
        /** Settings of the action, as its type asks for them. */
        config?: unknown;
      }[];
    })[];
    /** Rules for the answers of a route. They are kept as they were sent. */
    outbound?: ({
      /** A name for people. */
      name?: string | number;
      /** The actions run if all of these are true. */
      expressions?: string[];
      /** Actions of the rule, in this order. */
      actions?: {
        /** Name of the action. */
        type?: string;
        /** Settings of the action, as its type asks for them. */
        config?: unknown;
      }[];
    })[];
  };
  /** Traffic Policy module. */
  traffic_policy?: {
    /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
    enabled?: boolean;
    /** The policy, as YAML or JSON: phases (on_tcp_connect, on_http_request, on_http_response) with lists of rules, each with name, expressions and actions. It is kept to the byte. YAML may have 8 KiB with 700 lines, keys, items and brackets, JSON 256 KiB. */
    value: string;
  };
  /** Backend module. */
  backend?: {
    /** true: the module is applied to traffic. false: disabled. Default true if unspecified. */
    enabled?: boolean;
    /** Name of a backend. */
    backend: string;
  };
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
  /** State of the certificate at the authority; null without certificate_management_policy. */
  certificate_management_status: {
    /** When the certificate is renewed, RFC 3339; null while there is none. */
    renews_at: string | null;
    /** The order that is in progress or has failed; null when there is nothing to do. */
    provisioning_job: {
      /** Code of the last fault; null while there was none. */
      error_code: string | null;
      /** The state in words; after a fault those of the authority, and what to do. */
      msg: string;
      /** Start of the last attempt, RFC 3339. */
      started_at: string;
      /** Time of the next attempt, RFC 3339; null while one is in progress. */
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
  /** Lets a public authority issue and renew the certificate, instead of certificate_id. The installation must have GATEHOUSE_ACME=on, and the name must be public and resolve to the installation. */
  certificate_management_policy?: {
    /** The authority: always "letsencrypt", which stands for the authority that the installation uses. */
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

/** The domain itself cannot be changed. `DELETE /reserved_domains/{id}/certificate` removes the certificate, `DELETE /reserved_domains/{id}/certificate_management_policy` the policy. Giving one of the two replaces the other, and an empty `certificate_id` removes a certificate of your own. */
export interface ReservedDomainUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Id of the TLS certificate for the domain, which must be for its name and cannot be deleted while it is named. The gateway serves the best certificate of the account for a name, named here or not. */
  certificate_id?: string;
  /** Lets a public authority issue and renew the certificate, instead of certificate_id. The installation must have GATEHOUSE_ACME=on, and the name must be public and resolve to the installation. */
  certificate_management_policy?: {
    /** The authority: always "letsencrypt", which stands for the authority that the installation uses. */
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
  /** Instead of a certificate: a public authority issues one, for a private key of this kind. Needs GATEHOUSE_ACME=on. */
  certificate_management?: 'ecdsa' | 'rsa';
}

export interface Gateways {
  /** The processes, those that started first at the top. */
  gateways: ({
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
    /** Time of its last report, RFC 3339. Every process reports every ten seconds. */
    seen_at?: string;
    /** The version of the configuration that the process obeyed at seen_at. */
    configuration_version?: number;
    /** Age, at seen_at, of the oldest change that the process did not obey yet, in milliseconds, to the second. Absent: it obeyed all changes that were stored by then. */
    lag_ms?: number;
    /** The listeners of the process; only admins are told. */
    listeners?: {
      /** api, https, http, tcp, agents or links. */
      kind: string;
      /** The address of the listener. */
      address: string;
      /** 0 for tcp: the ports of all TCP edges. */
      port: number;
    }[];
    /** Ports of TCP edges of this account that the process cannot open. */
    unopened_ports: {
      /** A port of a TCP edge of this account. */
      port: number;
      /** The edge, or the endpoint of an agent, that has it. */
      edge_id: string;
      /** Why the port could not be opened. The process tries again every few seconds. */
      reason: string;
    }[];
    /** When it last found the database with another history than before, after a failover or a restore. It then goes by what the database has. Absent: never since it started. */
    history_change?: {
      /** When it was found, RFC 3339. */
      at: string;
      /** The newest version of the configuration that the process had seen. */
      seen_version: number;
      /** The newest version that the database had. */
      version: number;
      /** Changes of this account that it had seen and that are gone, deletions first; there may be more. A process that has started from its snapshot file knows none by name. */
      lost: ({
        /** The version that the change had made. */
        version: number;
        /** Kind of the resource that was changed. */
        kind: string;
        /** Id of that resource. */
        id: string;
        /** Kind of the lost change. A resource whose deletion was lost exists again. */
        action?: 'created' | 'changed' | 'deleted';
      })[];
    };
  })[];
  /** The newest version of the configuration. */
  configuration_version: number;
  /** True if the installation has certificates issued by a public authority (GATEHOUSE_ACME=on). */
  acme: boolean;
  /** URI of this list. */
  uri: string;
}

export interface PublicAddresses {
  /** Port at which browsers reach HTTPS edges, TLS edges and endpoints of agents; hostports have the port of the setting https_port. */
  https_port: number;
  /** Port at which browsers reach names below localhost, which lead to the listener itself and past every load balancer. */
  local_https_port: number;
  /** Where agents connect, as host:port. Null: agents are not served. */
  agent_server: string | null;
  /** True if agents can connect from the machine of the service alone (GATEHOUSE_AGENT_LISTEN). */
  agent_server_is_local: boolean;
  /** The authority that agents verify the service by: "sha256:" and the digest of its certificate, as "gatehouse http --fingerprint" takes it. Null: the service has a certificate of the operator (GATEHOUSE_AGENT_CERTIFICATE). */
  agent_fingerprint: string | null;
  /** URI of these addresses. */
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
  /** Metadata that the agent gave. */
  metadata: string;
  /** The system that the agent runs on. */
  os: string;
  /** The region of this installation. */
  region: string;
  /** When it was opened, RFC 3339. */
  started_at: string;
  /** The protocol of the agent: "agent/2", or with a vendor its word in place of "agent". */
  transport: string;
}

export interface Tunnel {
  /** Unique identifier of the tunnel. */
  id: string;
  /** Where visitors reach it; absent for a tunnel of labels. */
  public_url?: string;
  /** When it was opened, RFC 3339. */
  started_at: string;
  /** Metadata that the agent gave. */
  metadata: string;
  /** The protocol of its visitors; absent for a tunnel of labels. */
  proto?: 'http' | 'https' | 'tcp' | 'tls';
  /** The region of this installation. */
  region: string;
  tunnel_session: Ref;
  endpoint?: Ref;
  /** Labels of the tunnel; absent for a tunnel with an endpoint. */
  labels?: Record<string, string>;
  /** The tunnel group backends that it belongs to by its labels. */
  backends?: Ref[];
  /** Where the agent takes the traffic to, as it says. */
  forwards_to: string;
}

/** A command has no options. */
export type TunnelSessionCommand = Record<string, never>;

/** An entry of cloud_endpoints in a configuration. */
export interface CloudEndpointEntry {
  /** Kind of the entry. */
  kind: 'cloud_endpoints';
  /** Name of the entry, unique among those that are named alike: 1 to 100 letters, digits, ".", "_" and "-", the first of them a letter or digit. It is kept apart from the resource, whose fields it does not touch. */
  name: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where it is reached: scheme, host and perhaps port. The schemes are http, https, tcp and tls. A public name must be reserved, an internal one ends with .internal. */
  url: string;
  /** What becomes of its traffic, as YAML or JSON; kept to the byte. It must end each visit, as with custom-response, deny or forward-internal. */
  traffic_policy: string;
  /** True: others of the account that say the same may have this URL too, and share its visitors. */
  pooling_enabled?: boolean;
}

export interface Endpoint {
  /** Unique identifier of the endpoint. */
  id: string;
  /** The region of this installation. */
  region: string;
  /** Since when it exists, RFC 3339. */
  created_at: string;
  /** When it was changed last, RFC 3339. */
  updated_at: string;
  /** ephemeral: of an agent. edge: of an edge. cloud: made by a call. */
  type: 'ephemeral' | 'edge' | 'cloud';
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
  /** As it was given. */
  metadata?: string;
  /** As it was given. */
  description?: string;
  /** As it was given. */
  name?: string;
  principal?: Ref;
  edge?: Ref;
  domain?: Ref;
  tcp_addr?: Ref;
  tunnel?: Ref;
  tunnel_session?: Ref;
  /** Where the agent takes the traffic to, as it says. */
  upstream_url?: string;
  /** "http1", "http2" or "". */
  upstream_protocol?: string;
  /** "public", or "internal" for one that only endpoints of the account forward to. */
  bindings: string[];
  /** True if others may share the URL. */
  pooling_enabled: boolean;
  /** What becomes of its traffic, as it was given. */
  traffic_policy?: string;
  /** URI of the endpoint's resource; only of a cloud endpoint. */
  uri?: string;
}

export interface EndpointsPage {
  /** The entries of this page, newest first. */
  endpoints: Endpoint[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface EndpointCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where it is reached: scheme, host and perhaps port. The schemes are http, https, tcp and tls. A public name must be reserved, an internal one ends with .internal. */
  url: string;
  /** Always "cloud". */
  type?: string;
  /** What becomes of its traffic, as YAML or JSON; kept to the byte. It must end each visit, as with custom-response, deny or forward-internal. */
  traffic_policy: string;
  /** One of "public" and "internal". Without it the name decides. */
  bindings?: string[];
  /** True: others of the account that say the same may have this URL too, and share its visitors. */
  pooling_enabled?: boolean;
}

export interface EndpointUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Where it is reached: scheme, host and perhaps port. The schemes are http, https, tcp and tls. A public name must be reserved, an internal one ends with .internal. */
  url?: string;
  /** What becomes of its traffic, as YAML or JSON; kept to the byte. It must end each visit, as with custom-response, deny or forward-internal. */
  traffic_policy?: string;
  /** One of "public" and "internal". Without it the name decides. */
  bindings?: string[];
  /** True: others of the account that say the same may have this URL too, and share its visitors. */
  pooling_enabled?: boolean;
}

export interface KubernetesOperator {
  /** Unique identifier of the operator. */
  id: string;
  /** URI of this operator's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** When it was changed last, RFC 3339. */
  updated_at: string;
  principal: Ref;
  /** Features that are switched on in the operator. "bindings" is refused. */
  enabled_features: string[];
  /** As it was given. */
  region: string;
  /** The place in a cluster where the operator runs, as it says. */
  deployment: {
    /** Name of the deployment. */
    name?: string;
    /** Its namespace. */
    namespace?: string;
    /** Version of the operator. */
    version?: string;
    /** Name of the cluster. */
    cluster_name?: string;
  };
  /** Always null: bindings are not offered. */
  binding: string | null;
}

export interface KubernetesOperatorCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Features that are switched on in the operator. "bindings" is refused. */
  enabled_features?: string[];
  /** The region that the operator uses; nothing depends on it. */
  region?: string;
  /** The place in a cluster where the operator runs, as it says. */
  deployment?: {
    /** Name of the deployment. */
    name?: string;
    /** Its namespace. */
    namespace?: string;
    /** Version of the operator. */
    version?: string;
    /** Name of the cluster. */
    cluster_name?: string;
  };
  /** Refused: bindings are not offered. */
  binding?: {
    /** Expressions that choose endpoints. */
    endpoint_selectors?: string[];
    /** A request for a certificate. */
    csr?: string;
    /** An address. */
    ingress_endpoint?: string;
  };
}

export interface KubernetesOperatorUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Features that are switched on in the operator. "bindings" is refused. */
  enabled_features?: string[];
  /** The region that the operator uses; nothing depends on it. */
  region?: string;
  /** The place in a cluster where the operator runs, as it says. */
  deployment?: {
    /** Name of the deployment. */
    name?: string;
    /** Its namespace. */
    namespace?: string;
    /** Version of the operator. */
    version?: string;
    /** Name of the cluster. */
    cluster_name?: string;
  };
  /** Refused: bindings are not offered. */
  binding?: {
    /** Expressions that choose endpoints. */
    endpoint_selectors?: string[];
    /** A request for a certificate. */
    csr?: string;
    /** An address. */
    ingress_endpoint?: string;
  };
}

export interface KubernetesOperatorBoundEndpointsPage {
  /** The entries of this page, newest first. */
  endpoints: Endpoint[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface TrafficHistory {
  /** false: this process serves the API alone and sees no traffic. Each gateway counts its own. */
  carries_traffic: boolean;
  /** The last 60 minutes, oldest first; the last minute is not over. */
  buckets: ({
    /** When the minute begins, RFC 3339. */
    start: string;
    /** HTTP requests that were answered. */
    requests: number;
    /** TCP connections that were opened or refused. */
    connections: number;
    /** Requests and connections that a rule refused. */
    refused: number;
    /** Requests and connections that an IP restriction, a rate limit or an action of a traffic policy would have refused if it were enforced. */
    warned: number;
    /** Answers with a status of 500 or more, and connections that did not get to a backend. */
    errors: number;
    /** Time in which half of the requests were answered, in milliseconds, exact to a fifth; null without requests, and for a single edge. */
    p50_ms: number | null;
    /** Time in which 99 of 100 of the requests were answered, in milliseconds, exact to a fifth; null without requests, and for a single edge. */
    p99_ms: number | null;
  })[];
  /** Traffic of the same hour by edge, the busiest first; at most 200 for each minute. */
  by_edge: {
    /** The edge, or the endpoint of an agent. */
    edge_id: string;
    /** HTTP requests that were answered. */
    requests: number;
    /** TCP connections that were opened or refused. */
    connections: number;
    /** Requests and connections that a rule refused. */
    refused: number;
    /** Requests and connections that an IP restriction, a rate limit or an action of a traffic policy would have refused if it were enforced. */
    warned: number;
    /** Answers with a status of 500 or more, and connections that did not get to a backend. */
    errors: number;
  }[];
  /** URI of this history. */
  uri: string;
}

export interface TrafficHealth {
  /** How many processes that carry traffic are counted. */
  gateways: number;
  /** Time since which the counts are complete: an hour ago, or the start of the youngest of these processes. RFC 3339. */
  since: string;
  /** false: more edges, routes and backends had traffic than are counted, so that one without numbers may have had some too. */
  is_complete: boolean;
  /** Edges, routes, backends and endpoints that had traffic in the last hour. */
  health: ({
    /** The edge, route, backend, or endpoint of an agent. */
    id: string;
    /** State by the requests of the last ten minutes, or, if there were none, of the hour. `does_not_answer`: none was answered, and at least one failed. `answers_in_part`: at least 1 in 100 failed. `slow`: more than 5 in 100 took three seconds or longer. `no_login_returns`: visitors were sent to sign in, and none has come back from the provider. `no_requests`: there were no requests to judge by. */
    state: 'answers' | 'answers_in_part' | 'slow' | 'does_not_answer' | 'no_login_returns' | 'no_requests';
    /** Requests and connections of the last hour, without those that were refused. */
    requests: number;
    /** Requests and connections that a rule refused, or that were faulty themselves: no backend was asked. */
    turned_away: number;
    /** Refused requests and connections by cause, the most frequent first; exact to ten minutes. */
    turned_away_by: ({
      /** rule: IP rules. rate: a rate limit. login: no login, or one that is not let in. other: a fault of the request, or a path without a route. */
      cause: 'rule' | 'rate' | 'certificate' | 'password' | 'token' | 'login' | 'signature' | 'user_agent' | 'other';
      /** How many. */
      count: number;
    })[];
    /** The last refused request or connection. Absent: none was refused in the last hour. */
    last_refusal?: {
      /** When it happened, RFC 3339. */
      at: string;
      /** Cause of the refusal, as in `turned_away_by`. */
      cause: 'rule' | 'rate' | 'certificate' | 'password' | 'token' | 'login' | 'signature' | 'user_agent' | 'other';
      /** Why it was refused, and who it was where that is known. */
      message: string;
      /** Address of the client. */
      client_ip: string;
    };
    /** Logins in the last hour. Absent: there were none. */
    logins?: {
      /** Visitors who were sent to the provider. */
      begun: number;
      /** Visitors who came back from the provider. */
      back: number;
    };
    /** Answers with a status of 500 or more, and connections that did not get to a backend. */
    errors: number;
    /** Time in which 95 of 100 of the requests were answered, in milliseconds, exact to a fifth; null without requests, and for a single edge. */
    p95_ms: number | null;
    /** Number of `requests` in the last ten minutes. */
    recent_requests: number;
    /** Number of `errors` in the last ten minutes. */
    recent_errors: number;
    /** Time of the last request or connection, RFC 3339. */
    last_at: string;
    /** The last request or connection that failed. Absent: none failed in the last hour. */
    last_error?: {
      /** When it happened, RFC 3339. */
      at: string;
      /** The fault, in words. */
      message: string;
      /** The HTTP status of the answer. */
      status?: number;
      /** Number of the gateway's own error. */
      code?: number;
      /** The HTTP method. */
      method?: string;
      /** The path, without the query; at most 200 characters. */
      path?: string;
    };
  })[];
  /** Static backends with several addresses or with checks, among the newest 2,000, and what checks and traffic say of these addresses. */
  backends: ({
    /** The static backend. */
    id: string;
    /** up: no gateway misses an address. in_part: some address is down for some gateway. down: all addresses with a weight are down for all gateways. unchecked: nothing has been seen yet. */
    state: 'up' | 'in_part' | 'down' | 'unchecked';
    /** How many addresses have a weight. */
    addresses: number;
    /** How many of these addresses are up for every gateway. */
    answering: number;
    /** The first address that is down. Absent: none is. */
    fault?: {
      /** The address that is down. */
      address: string;
      /** Since when, RFC 3339. */
      since?: string;
      /** The last failure. */
      cause?: string;
    };
  })[];
  /** URI of this document. */
  uri: string;
}

export interface TrafficEvent {
  /** Unique identifier; a connection has the same when it is opened and when it is closed. */
  id: string;
  /** Time of the event, RFC 3339. */
  at: string;
  /** Protocol of the edge or endpoint. */
  kind: 'https' | 'tcp';
  /** opened: a connection has begun and goes on. closed: the request or connection is over. Requests and refused connections have this phase alone. */
  phase: 'opened' | 'closed';
  /** The edge, or the endpoint of an agent. */
  edge_id: string;
  /** The route of an HTTPS edge. */
  route_id?: string;
  /** Address that the client asked for; for a TCP edge the port alone. */
  hostport: string;
  /** Address of the client. */
  client_ip: string;
  /** The HTTP method. */
  method?: string;
  /** The path, without the query. */
  path?: string;
  /** The version of HTTP. */
  protocol?: string;
  /** The HTTP status of the answer; 499: the client left before the answer. */
  status?: number;
  /** The decision. */
  verdict: 'allowed' | 'refused' | 'warned';
  /** Number of the gateway's own error. */
  code?: number;
  /** The message of the gateway's own error, or why a connection ended. */
  reason?: string;
  /** The rule that decided, by the rules as they are now. Absent: no rule contains the address, or there are no rules. */
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
  /** The module that refused, or that answered in place of the backend. */
  module?: string;
  /** The module, or the action of a traffic policy, that would have refused if it were enforced. */
  would_be_refused_by?: string;
  /** The IP restriction that refused, or those that warned. */
  restrictions?: string[];
  /** Duration of the request or connection. In milliseconds. */
  duration_ms?: number;
  /** The backend or the endpoint of an agent. */
  upstream?: string;
  /** Time from the request to the backend until the head of its answer. In milliseconds. */
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

export interface Decision {
  /** Unique identifier of the decision. */
  id: string;
  /** Id of the store of decisions that has it, one for each gateway. */
  gateway: string;
  /** When the request or connection was over, RFC 3339. */
  at: string;
  /** https: a request. tcp: a connection of TCP or TLS. */
  kind: 'https' | 'tcp';
  /** warned: let through, although a rule that is not enforced would have refused it. */
  verdict: 'allowed' | 'warned' | 'refused';
  /** Id of the request or connection, where one was told or logged. */
  request_id?: string;
  /** The edge, or the endpoint of an agent. */
  edge_id: string;
  /** The route of an HTTPS edge. */
  route_id?: string;
  /** Address of the visitor. */
  client_ip: string;
  /** The name that was asked for. */
  host?: string;
  /** The port of a TCP edge. */
  port?: number;
  /** The HTTP method. */
  method?: string;
  /** The path, without the query; at most 512 characters. */
  path?: string;
  /** Version of HTTP. */
  protocol?: string;
  /** The HTTP status of the answer. */
  status?: number;
  /** Number of the gateway's own error. */
  code?: number;
  /** The module that refused, or answered in place of the backend. */
  module?: string;
  /** The IP restriction that refused, or those that warned. */
  restrictions?: string[];
  /** The module or action that would have refused if it were enforced. */
  would_be_refused_by?: string;
  /** Why it was refused, or has ended. */
  reason?: string;
  /** E-mail address or subject of the visitor who had signed in, also of one who was refused. */
  person?: string;
  /** The backend, or the endpoint of an agent, that it went to. */
  upstream?: string;
  /** How long it took. In milliseconds. */
  duration_ms?: number;
  /** From sending the request to the head of the answer. In milliseconds. */
  upstream_ms?: number;
  /** Bytes that the visitor sent: of a connection, or of the body of a request. */
  bytes_in?: number;
  /** Bytes that the visitor got: of a connection, or of the body of an answer. */
  bytes_out?: number;
  /** Version of the configuration that was in force. */
  configuration_version?: number;
  /** Number of the worker that decided. Absent: there were none. */
  worker?: number;
}

export interface DecisionsPage {
  /** The decisions of this page, newest first. */
  decisions: Decision[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
  /** Every process that carries traffic, and what became of the question there. */
  gateways: ({
    /** Id of the process that carries traffic, as GET /gateways has it. */
    process_id: string;
    /** Id of its store of decisions, which stays after a restart. Absent: it did not answer. */
    gateway?: string;
    /** answered: its decisions are among these. keeps_none: it keeps no decisions (`GATEHOUSE_DECISIONS`). busy: it has other questions of this account to answer. failed: its decisions cannot be read for now, and its log has the cause. no_answer: it stands still. unreachable: no link leads to it from the process that answers (`GATEHOUSE_LINK_LISTEN`). not_asked: there are too many gateways. */
    state: 'answered' | 'keeps_none' | 'busy' | 'failed' | 'no_answer' | 'unreachable' | 'not_asked';
    /** Decisions of this account that it could not keep since it was started. */
    dropped?: number;
    /** From when on it has decisions of this account. */
    kept_from?: string;
    /** true: it did not reach all of its decisions in time. */
    was_cut_off?: boolean;
  })[];
  /** How many processes that carry traffic keep no decisions or have not answered: `gateways` tells which. */
  other_gateways: number;
  /** true: the page ended before it was full, after many decisions or a long time. The next page goes on. */
  was_cut_off: boolean;
  /** Decisions of this account that the gateways could not keep since they were started. */
  dropped: number;
  /** Why there are none, and the setting that has them kept. Absent: they are kept. */
  not_kept?: string;
}

export interface DecisionCounts {
  /** Requests, and connections of TCP and TLS. */
  requests: number;
  /** Answers of 400 to 499, of the gateway or from behind it, without refusals. */
  errors_4xx: number;
  /** Answers of 500 and more, of the gateway or from behind it, without refusals. */
  errors_5xx: number;
  /** Refused by the gateway. */
  refused: number;
  /** Bytes that visitors sent. */
  bytes_in: number;
  /** Bytes that visitors got. */
  bytes_out: number;
  /** Half of those that were not refused took no longer, in milliseconds, to within 5 percent. null: there were none. */
  p50_ms: number | null;
  /** 95 of 100 that were not refused took no longer, in milliseconds, to within 5 percent. */
  p95_ms: number | null;
  /** Let through, although a rule that is not enforced would have refused them. */
  warned: number;
  /** Refusals by cause. */
  refusals: {
    /** By rules about addresses or programs: an IP restriction, an IP policy, or a filter of User-Agent. */
    rule: number;
    /** By a traffic policy. */
    policy: number;
    /** By a rate limit. */
    rate: number;
    /** For want of a client certificate that is accepted. */
    certificate: number;
    /** For want of a password, or after too many wrong ones. */
    password: number;
    /** For want of a token, or of the signature of a webhook, that is accepted. */
    token: number;
    /** For want of a login, or of one that may enter. */
    login: number;
    /** For want of a place: a bound of the account or of the installation was reached. */
    quota: number;
    /** By anything else. */
    other: number;
  };
}

export interface DecisionPoint {
  /** The beginning of the interval, RFC 3339. */
  at: string;
  /** Requests, and connections of TCP and TLS. */
  requests: number;
  /** Answers of 400 to 499, of the gateway or from behind it, without refusals. */
  errors_4xx: number;
  /** Answers of 500 and more, of the gateway or from behind it, without refusals. */
  errors_5xx: number;
  /** Refused by the gateway. */
  refused: number;
  /** Bytes that visitors sent. */
  bytes_in: number;
  /** Bytes that visitors got. */
  bytes_out: number;
  /** Half of those that were not refused took no longer, in milliseconds, to within 5 percent. null: there were none. */
  p50_ms: number | null;
  /** 95 of 100 that were not refused took no longer, in milliseconds, to within 5 percent. */
  p95_ms: number | null;
  /** Let through, although a rule that is not enforced would have refused them. */
  warned: number;
  /** Refusals by cause. */
  refusals: {
    /** By rules about addresses or programs: an IP restriction, an IP policy, or a filter of User-Agent. */
    rule: number;
    /** By a traffic policy. */
    policy: number;
    /** By a rate limit. */
    rate: number;
    /** For want of a client certificate that is accepted. */
    certificate: number;
    /** For want of a password, or after too many wrong ones. */
    password: number;
    /** For want of a token, or of the signature of a webhook, that is accepted. */
    token: number;
    /** For want of a login, or of one that may enter. */
    login: number;
    /** For want of a place: a bound of the account or of the installation was reached. */
    quota: number;
    /** By anything else. */
    other: number;
  };
  /** The mean of the same hour of up to seven earlier days, for as long as the interval. null: no such hour is known, or the question is about something that is not counted by the hour. */
  usual: {
    /** Requests, and connections of TCP and TLS. */
    requests: number;
    /** Answers of 400 to 499, of the gateway or from behind it, without refusals. */
    errors_4xx: number;
    /** Answers of 500 and more, of the gateway or from behind it, without refusals. */
    errors_5xx: number;
    /** Refused by the gateway. */
    refused: number;
    /** Bytes that visitors sent. */
    bytes_in: number;
    /** Bytes that visitors got. */
    bytes_out: number;
    /** Half of those that were not refused took no longer, in milliseconds, to within 5 percent. null: there were none. */
    p50_ms: number | null;
    /** 95 of 100 that were not refused took no longer, in milliseconds, to within 5 percent. */
    p95_ms: number | null;
  } | null;
}

export interface DecisionSummary {
  /** The beginning of the first interval, RFC 3339. */
  since: string;
  /** The end of the last interval. */
  until: string;
  /** Seconds of an interval. Intervals begin at whole multiples of it since 1970. */
  step: number;
  /** Decisions from here on are counted, and earlier intervals are left out: these were not kept, were removed, or were not reached in time. Absent: nothing is kept. */
  counted_from?: string;
  /** What p50_ms and p95_ms are of: of connections only where there were no requests. */
  durations_of: 'requests' | 'connections';
  /** The intervals, oldest first. */
  points: DecisionPoint[];
  total: DecisionCounts;
  /** false: some gateway did not answer, keeps no decisions, has dropped some, or did not reach all of them, so that the figures are the least it can be. */
  is_complete: boolean;
  /** Every process that carries traffic, and what became of the question there. */
  gateways: ({
    /** Id of the process that carries traffic, as GET /gateways has it. */
    process_id: string;
    /** Id of its store of decisions, which stays after a restart. Absent: it did not answer. */
    gateway?: string;
    /** answered: its decisions are among these. keeps_none: it keeps no decisions (`GATEHOUSE_DECISIONS`). busy: it has other questions of this account to answer. failed: its decisions cannot be read for now, and its log has the cause. no_answer: it stands still. unreachable: no link leads to it from the process that answers (`GATEHOUSE_LINK_LISTEN`). not_asked: there are too many gateways. */
    state: 'answered' | 'keeps_none' | 'busy' | 'failed' | 'no_answer' | 'unreachable' | 'not_asked';
    /** Decisions of this account that it could not keep since it was started. */
    dropped?: number;
    /** From when on it has decisions of this account. */
    kept_from?: string;
    /** true: it did not reach all of its decisions in time. */
    was_cut_off?: boolean;
  })[];
}

export interface DecisionTop {
  /** The beginning of the range, RFC 3339. */
  since: string;
  /** The end of the range. */
  until: string;
  /** Decisions from here on are counted. Absent: nothing is kept. */
  counted_from?: string;
  /** What is counted apart. */
  by: string;
  /** requests or refused: what the first ones have most of. */
  order: string;
  /** Most first. */
  entries: {
    /** The address, person, host, path, module or id. */
    key: string;
    /** Requests and connections. */
    requests: number;
    /** Those that were refused. */
    refused: number;
  }[];
  /** So many may be missing of each entry, where there were too many different ones. Usually 0. */
  missed_at_most: number;
  /** false: some gateway did not answer, keeps no decisions, has dropped some, or did not reach all of them, so that the figures are the least it can be. */
  is_complete: boolean;
  /** Every process that carries traffic, and what became of the question there. */
  gateways: ({
    /** Id of the process that carries traffic, as GET /gateways has it. */
    process_id: string;
    /** Id of its store of decisions, which stays after a restart. Absent: it did not answer. */
    gateway?: string;
    /** answered: its decisions are among these. keeps_none: it keeps no decisions (`GATEHOUSE_DECISIONS`). busy: it has other questions of this account to answer. failed: its decisions cannot be read for now, and its log has the cause. no_answer: it stands still. unreachable: no link leads to it from the process that answers (`GATEHOUSE_LINK_LISTEN`). not_asked: there are too many gateways. */
    state: 'answered' | 'keeps_none' | 'busy' | 'failed' | 'no_answer' | 'unreachable' | 'not_asked';
    /** Decisions of this account that it could not keep since it was started. */
    dropped?: number;
    /** From when on it has decisions of this account. */
    kept_from?: string;
    /** true: it did not reach all of its decisions in time. */
    was_cut_off?: boolean;
  })[];
}

export interface ExplainedMoment {
  /** Version of the configuration; null for that of now, and where it is not known. */
  configuration_version: number | null;
  /** false: the configuration of that moment is not known; `reason` says why. */
  is_known: boolean;
  /** The verdict of that configuration on what is kept of the visit: allowed, refused, not_served, depends. depends: something that is not kept decides. null: it is not known. */
  verdict: string | null;
  /** The verdict in words. */
  reason: string;
  /** Everything that the visit meets, in the order of the gateway. */
  checks: ({
    /** What was met. */
    kind: 'ip_restriction' | 'edge' | 'route' | 'module';
    /** Id of the restriction, or of the edge or route whose module it is. */
    id: string;
    /** Name of the module, such as "ip_restriction"; null for everything else. */
    module: string | null;
    /** depends: on something that is not kept. answers: in place of the backend. not_served: nothing is there for such a request. not_reached: something before it has decided. */
    effect: 'passes' | 'warns' | 'refuses' | 'depends' | 'answers' | 'not_served' | 'not_reached';
    /** IP policies that were asked. */
    ip_policy_ids: string[];
    /** The rule that contains the address and decides, as it was at that moment; null if none does. */
    rule: {
      id: string;
      cidr: string;
      action: 'allow' | 'deny';
      ip_policy_id: string;
    } | null;
    /** The reason of this effect, in words. */
    reason: string;
  })[];
}

export interface DecisionExplanation {
  decision: Decision;
  /** Id of the gateway that kept it. */
  gateway: string;
  at_the_time: ExplainedMoment;
  now: ExplainedMoment;
  /** true: what the visit meets is as it was, with the same effects. */
  is_unchanged: boolean;
  /** What was decided, and what would happen now, in words. */
  explanation: string;
}

export interface InspectionCreate {
  /** The route, HTTPS edge or endpoint whose requests are recorded. */
  subject_id: string;
  /** For how long, at most an hour. */
  minutes?: number;
}

export interface Inspection {
  /** Unique identifier of the inspection. */
  id: string;
  /** URI of the inspection. */
  uri: string;
  /** The route, HTTPS edge or endpoint whose requests are recorded. */
  subject_id: string;
  /** When it began, RFC 3339. */
  created_at: string;
  /** When it ends, and all that it has recorded is forgotten. */
  ends_at: string;
  /** The principal who has begun it. */
  started_by: string;
  /** Every process that carries traffic, and what became of the question there. */
  gateways: ({
    /** Id of the process that carries traffic, as GET /gateways has it. */
    process_id: string;
    /** answered: it records, and what it has recorded is counted here. full: it records as many inspections as it can. no_answer: it stands still. unreachable: no link leads to it from the process that answers (`GATEHOUSE_LINK_LISTEN`). failed: it is of another version. not_asked: there are too many gateways. */
    state: 'answered' | 'no_answer' | 'unreachable' | 'failed' | 'not_asked' | 'full';
  })[];
  /** Requests that were not recorded, because there were too many at once. */
  left_out: number;
  /** Requests that are kept. */
  recorded: number;
}

export interface InspectionWithRequests {
  /** Unique identifier of the inspection. */
  id: string;
  /** URI of the inspection. */
  uri: string;
  /** The route, HTTPS edge or endpoint whose requests are recorded. */
  subject_id: string;
  /** When it began, RFC 3339. */
  created_at: string;
  /** When it ends, and all that it has recorded is forgotten. */
  ends_at: string;
  /** The principal who has begun it. */
  started_by: string;
  /** Every process that carries traffic, and what became of the question there. */
  gateways: ({
    /** Id of the process that carries traffic, as GET /gateways has it. */
    process_id: string;
    /** answered: it records, and what it has recorded is counted here. full: it records as many inspections as it can. no_answer: it stands still. unreachable: no link leads to it from the process that answers (`GATEHOUSE_LINK_LISTEN`). failed: it is of another version. not_asked: there are too many gateways. */
    state: 'answered' | 'no_answer' | 'unreachable' | 'failed' | 'not_asked' | 'full';
  })[];
  /** Requests that were not recorded, because there were too many at once. */
  left_out: number;
  /** Requests that are kept. */
  recorded: number;
  /** The last 100 requests of each gateway at most, newest first. */
  requests: ({
    /** Id of the request, as in the log and in decisions. */
    id: string;
    /** The process that carried it, as GET /gateways has it. */
    process_id: string;
    /** When its checks had let it pass, RFC 3339. */
    at: string;
    /** Address of the visitor. */
    client_ip: string;
    /** The edge or endpoint that it went through. */
    edge_id: string;
    /** The route; for an endpoint, its id. */
    route_id: string;
    /** The host that was asked for. */
    host: string;
    /** The HTTP method. */
    method: string;
    /** Path and query; secrets are masked. */
    target: string;
    /** Version of HTTP. */
    protocol: string;
    /** As the visitor sent it. */
    request: {
      /** The first 100 headers, in order; of each value the first 1,024 characters. */
      headers: {
        /** The name as it was sent. */
        name: string;
        /** The value; secrets are masked. */
        value: string;
      }[];
      /** The first 16 KiB of a body that is text, with secrets masked. */
      body?: string;
      /** Bytes of the body that came. */
      body_bytes: number;
      /** none: there is no body, or it is no text, in which no secret could be found. */
      body_kept: 'whole' | 'start' | 'none';
    };
    /** As the backend gave it. Absent: it gave none. */
    answer?: {
      /** The HTTP status. */
      status: number;
      /** The first 100 headers, in order; of each value the first 1,024 characters. */
      headers: {
        /** The name as it was sent. */
        name: string;
        /** The value; secrets are masked. */
        value: string;
      }[];
      /** The first 16 KiB of a body that is text, with secrets masked. */
      body?: string;
      /** Bytes of the body that came. */
      body_bytes: number;
      /** none: there is no body, or it is no text, in which no secret could be found. */
      body_kept: 'whole' | 'start' | 'none';
    };
    /** From when it was let pass to the end of the answer. */
    duration_ms: number;
    /** False if the answer was cut off. */
    is_whole: boolean;
    /** Present for a replay. */
    replay_of?: {
      /** The request that was sent again. */
      id: string;
      /** It was changed. */
      is_edited: boolean;
    };
  })[];
  /** Give it as `after` to see only what is recorded from now on. */
  cursor: string;
}

export interface Inspections {
  /** Those under way, oldest first. */
  inspections: Inspection[];
  /** Every process that carries traffic, and what became of the question there. */
  gateways: ({
    /** Id of the process that carries traffic, as GET /gateways has it. */
    process_id: string;
    /** answered: it records, and what it has recorded is counted here. full: it records as many inspections as it can. no_answer: it stands still. unreachable: no link leads to it from the process that answers (`GATEHOUSE_LINK_LISTEN`). failed: it is of another version. not_asked: there are too many gateways. */
    state: 'answered' | 'no_answer' | 'unreachable' | 'failed' | 'not_asked' | 'full';
  })[];
  /** URI of the list resource. */
  uri: string;
}

export interface InspectionReplay {
  /** The request to send again, as the inspection shows it. */
  request_id: string;
  /** Another method. */
  method?: string;
  /** Another path and query. */
  target?: string;
  /** All headers, in place of those that were recorded. Host stays as it was. */
  headers?: {
    name: string;
    value: string;
  }[];
  /** Another body, of 32 KiB at most. */
  body?: string;
}

export interface InspectionReplayed {
  /** Id of the new request, as in decisions. If the checks let it in, the inspection shows it too. */
  id: string;
  /** The request that was sent again. */
  replay_of: string;
  /** It was changed. */
  is_edited: boolean;
  /** The process that carried it, as GET /gateways has it. */
  process_id: string;
  /** Headers, and with "?" parameters, that were masked and so were not sent. */
  left_out: string[];
  /** As a visitor would have got it. Absent: there was none within ten seconds. */
  answer?: {
    /** The HTTP status. */
    status: number;
    /** The first 100 headers, in order; of each value the first 1,024 characters. */
    headers: {
      /** The name as it was sent. */
      name: string;
      /** The value; secrets are masked. */
      value: string;
    }[];
    /** The first 16 KiB of a body that is text, with secrets masked. */
    body?: string;
    /** Bytes of the body that came. */
    body_bytes: number;
    /** none: there is no body, or it is no text, in which no secret could be found. */
    body_kept: 'whole' | 'start' | 'none';
  };
  /** False if the answer was cut off. */
  is_whole: boolean;
  /** To the end of the answer. */
  duration_ms: number;
}

export interface RehearsalRequest {
  /** The method of the write. */
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path of the write, with its query. */
  path: string;
  /** The body of the write. */
  body?: unknown;
  /** How many of the last days are looked at. */
  days?: number;
}

export interface RehearsedVisitors {
  /** Requests and connections. */
  requests: number;
  /** Share of all requests and connections that were looked at, from 0 to 1. */
  share: number;
  /** Different addresses. */
  sources: number;
  /** Different persons who had signed in. */
  persons: number;
  /** true: there are more sources than were told apart. */
  is_at_least: boolean;
  /** Those with most requests, at most 100. */
  visitors: {
    /** Address of the visitor. */
    client_ip: string;
    /** E-mail address or subject of the visitor who had signed in. */
    person?: string;
    /** Their requests and connections that would get another verdict. */
    requests: number;
    /** When the last of them was, RFC 3339. */
    last_at: string;
    /** The edges and endpoints that they were for, at most 50. */
    edge_ids: string[];
    /** What would happen, in words. */
    reason: string;
  }[];
}

export interface Rehearsal {
  /** Resources that the write would change. */
  changes: number;
  /** false: the process that answers keeps no decisions (`GATEHOUSE_DECISIONS`), so that nobody can be named. */
  is_kept: boolean;
  /** Time of the oldest decision that was looked at, RFC 3339; null: there was none. */
  since: string | null;
  /** Requests and connections that were looked at. */
  requests: number;
  newly_refused: RehearsedVisitors;
  newly_admitted: RehearsedVisitors;
  cannot_tell: RehearsedVisitors;
  /** Requests and connections that would get the verdict of now. */
  unchanged: number;
  /** What the change means for the address of the caller, at the path "/". */
  you: {
    /** Edges that refuse it then. */
    newly_refused_at: string[];
    /** Edges that let it in then. */
    newly_admitted_at: string[];
  };
  /** true: not everything was counted, for the reasons in `partial`. Numbers can only grow. */
  is_partial: boolean;
  /** What was not counted, in words. */
  partial: string[];
}

export interface Change {
  /** Unique identifier of the change. */
  id: string;
  /** The version of the configuration that it made. */
  version: number;
  /** When, RFC 3339. */
  created_at: string;
  /** The User or Bot that made it, "host" for the command line of the machine, or "provider" for groups at the identity provider. */
  actor: string;
  /** The call that made it, as in the answer and the log of the server. */
  operation_id: string;
  /** The address that the call came from. Absent: it was made on the host, or by an older version. */
  source?: string;
  /** The API key of the call, or the one that its dashboard session was begun with. */
  key_id?: string;
  /** api: a call with the key. dashboard: one of a session. */
  scope?: 'api' | 'dashboard';
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

export interface RevertedChange {
  /** Effect of the revert on the resource. */
  action: 'create' | 'update' | 'delete';
  /** The kind of the resource. */
  kind: string;
  /** Id of the resource. */
  resource_id: string;
  /** The resource as it is before the revert, without secrets; null when it does not exist. */
  before: Record<string, unknown> | null;
  /** The resource as the revert makes it, without secrets; null when it is deleted. Of an IP policy whose rules change, `rules` is their number and `rules_that_differ` those that `before` and `after` do not share. */
  after: Record<string, unknown> | null;
}

export interface Revert {
  /** true: nothing was changed. */
  dry_run: boolean;
  /** Changes that the revert undoes, the last one first. */
  changes: RevertedChange[];
}

/** Give `ip`, and either `type`, or the edge or route that traffic goes to. */
export interface IpCheckRequest {
  /** The address to try, IPv4 or IPv6. */
  ip: string;
  /** Try the IP restrictions of this type. */
  type?: 'dashboard' | 'api' | 'agent' | 'endpoints';
  /** Try traffic to this TCP, TLS or HTTPS edge, or to this endpoint of an agent or of the cloud. */
  edge_id?: string;
  /** Try traffic to this route of an HTTPS edge. With `edge_id` too, it must be a route of that edge. */
  route_id?: string;
  /** Path of the request. With the `edge_id` of an HTTPS edge, only the route for this path is checked. */
  path?: string;
  /** Method of the request. Without it, checks that go by the method are among the further ones, and others take a GET. */
  method?: string;
  /** A visitor who has signed in, as the provider would describe the person. Without it, the verdict names the logins that are asked for. */
  visitor?: {
    /** E-mail address of the visitor, taken to be verified. */
    email?: string;
    /** All groups of the visitor. */
    groups?: string[];
    /** Further claims, each with all its values. */
    claims?: Record<string, string[]>;
  };
  /** All headers of the request. With them, the verdict covers its User-Agent and its password; without them, it names what a visitor must show. */
  headers?: Record<string, string>;
  /** The certificate that the visitor shows where one is asked for. It is taken to be valid. */
  certificate?: {
    /** The certificate authority that has signed the certificate. Left out: the visitor shows none. */
    authority_id?: string;
  };
}

export interface IpCheckVerdict {
  /** The address in canonical form. */
  ip: string;
  /** true: the address is let through now, at an HTTPS edge by at least one of its routes. false: every visitor from the address is refused. */
  allowed: boolean;
  /** true: the address would be let through too if every restriction that only warns were enforced. */
  allowed_if_all_enforced: boolean;
  /** The verdict in words. */
  explanation: string;
  /** Modules that decide about access by something other than the address. */
  further_checks: ({
    /** The module that decides. */
    module: string;
    /** Basis of the decision of this module, in words. */
    by: string;
    /** The demand on a visitor, in words that continue "a visitor", such as "needs a password"; null if the module asks visitors for nothing. */
    asks: string | null;
  })[];
  /** Every restriction and module that was consulted, in order; for an HTTPS edge, those that all routes have in common. */
  checks: ({
    kind: 'ip_restriction' | 'module';
    /** Id of the restriction, or of the edge or route whose module it is. */
    id: string;
    /** Name of the module, such as "ip_restriction"; null for a restriction. */
    module: string | null;
    /** warns: the restriction would refuse, but is not enforced. off: the module is disabled. */
    effect: 'allows' | 'refuses' | 'warns' | 'off';
    /** The IP policies that were consulted. */
    ip_policies: Ref[];
    /** The rule that decided; null if no rule matches, which is a refusal. */
    rule: {
      id: string;
      uri: string;
      cidr: string;
      action: 'allow' | 'deny';
      ip_policy: Ref;
    } | null;
    /** The reason of this effect, in words. */
    reason: string;
  })[];
  /** The verdict for each route of an HTTPS edge, newest first, at most 200; null for everything else. */
  routes: ({
    /** Id of the route. */
    id: string;
    match_type: 'path_prefix' | 'exact_path';
    /** The path of the route. */
    match: string;
    /** true: the address is let through now, at an HTTPS edge by at least one of its routes. false: every visitor from the address is refused. */
    allowed: boolean;
    /** true: the address would be let through too if every restriction that only warns were enforced. */
    allowed_if_all_enforced: boolean;
    /** The verdict in words. */
    explanation: string;
    /** Modules that decide about access by something other than the address. */
    further_checks: ({
      /** The module that decides. */
      module: string;
      /** Basis of the decision of this module, in words. */
      by: string;
      /** The demand on a visitor, in words that continue "a visitor", such as "needs a password"; null if the module asks visitors for nothing. */
      asks: string | null;
    })[];
    /** Restrictions and modules that were consulted for this route alone. */
    checks: ({
      kind: 'ip_restriction' | 'module';
      /** Id of the restriction, or of the edge or route whose module it is. */
      id: string;
      /** Name of the module, such as "ip_restriction"; null for a restriction. */
      module: string | null;
      /** warns: the restriction would refuse, but is not enforced. off: the module is disabled. */
      effect: 'allows' | 'refuses' | 'warns' | 'off';
      /** The IP policies that were consulted. */
      ip_policies: Ref[];
      /** The rule that decided; null if no rule matches, which is a refusal. */
      rule: {
        id: string;
        uri: string;
        cidr: string;
        action: 'allow' | 'deny';
        ip_policy: Ref;
      } | null;
      /** The reason of this effect, in words. */
      reason: string;
    })[];
  })[] | null;
}

export interface RuleFinding {
  /** rule_contradictory: allows only what others deny. rule_duplicate: another rule has the same CIDR and action. rule_shadowed: a wider rule does the same. rule_needless: denies what nothing allows. admits_nobody, admits_everybody: IP policies that decide together. unguarded: anybody reaches it. cannot_tell: a traffic policy decides, and for whom is unknown without a visitor. */
  kind: 'rule_contradictory' | 'admits_nobody' | 'admits_everybody' | 'unguarded' | 'cannot_tell' | 'rule_duplicate' | 'rule_shadowed' | 'rule_needless';
  /** Finding and remedy, in words. */
  text: string;
  /** The rule that never decides; null for findings about something else. */
  rule: {
    /** Id of the rule. */
    id: string;
    /** URI of the rule. */
    uri: string;
    /** The address range. */
    cidr: string;
    /** Effect on addresses in the range. */
    action: 'allow' | 'deny';
    ip_policy: Ref;
  } | null;
  /** The rule that decides in its place, or the first of several; null if there is none. */
  decided_by: {
    /** Id of the rule. */
    id: string;
    /** URI of the rule. */
    uri: string;
    /** The address range. */
    cidr: string;
    /** Effect on addresses in the range. */
    action: 'allow' | 'deny';
    ip_policy: Ref;
  } | null;
  /** The IP policies that decide together; empty for findings about edges, routes and endpoints. */
  ip_policies: Ref[];
  /** Ids of what uses these IP policies so, at most ten; of an edge, route or endpoint, its own id. */
  used_by: string[];
  /** URI of the edge, route or endpoint; null for other findings. */
  uri: string | null;
  /** An address that is let in; null where none is, or where this is not the question. */
  example: string | null;
}

export interface RuleFindings {
  /** The gravest first; at most 250 of each kind. */
  findings: RuleFinding[];
  /** How many findings there are of each kind. */
  totals: {
    /** Findings of the kind rule_contradictory. */
    rule_contradictory: number;
    /** Findings of the kind admits_nobody. */
    admits_nobody: number;
    /** Findings of the kind admits_everybody. */
    admits_everybody: number;
    /** Findings of the kind unguarded. */
    unguarded: number;
    /** Findings of the kind cannot_tell. */
    cannot_tell: number;
    /** Findings of the kind rule_duplicate. */
    rule_duplicate: number;
    /** Findings of the kind rule_shadowed. */
    rule_shadowed: number;
    /** Findings of the kind rule_needless. */
    rule_needless: number;
  };
  /** false: the account has more rules, edges or endpoints than one call goes through, and some were left out. */
  is_complete: boolean;
  /** URI of this list. */
  uri: string;
}

export interface TrafficPolicyCheckRequest {
  /** The policy, as YAML or JSON. It is not stored. */
  policy: string;
  /** The visit. Left out: only the policy is checked. */
  request?: {
    /** Method of the request; GET if it is left out. */
    method?: string;
    /** URL that is visited, with scheme and host. With tcp:// or tls:// it is a connection, to which only on_tcp_connect applies. */
    url: string;
    /** Address of the visitor, IPv4 or IPv6. */
    ip: string;
    /** Region of the gateway to which the visitor comes (conn.server_region). Left out: it is not known, and what goes by it depends on it. */
    region?: string;
    /** All headers of the request. Host is added if it is left out. */
    headers?: Record<string, string>;
    /** Variables that are set when each phase begins; each is a text. */
    vars?: Record<string, string>;
    /** The answer of the upstream, for the rules of on_http_response. Without it, they are not tried. */
    response?: {
      /** Status of the answer. */
      status_code: number;
      /** All headers of the answer. */
      headers?: Record<string, string>;
    };
  };
}

export interface TrafficPolicyCheckVerdict {
  /** valid: no visit was described. passes: it goes on to the upstream. forwards: to another endpoint, whose own rules follow. depends: on something that is not described. */
  verdict: 'valid' | 'passes' | 'answers' | 'refuses' | 'closes' | 'forwards' | 'depends';
  /** The verdict in words. */
  explanation: string;
  /** Everything that is not described and that the result goes by, in words, such as the value of a secret. Checks that go by it are taken to pass. */
  depends_on: string[];
  /** Every rule, in order; none if no visit was described. */
  rules: ({
    phase: 'on_tcp_connect' | 'on_http_request' | 'on_http_response';
    /** Place of the rule in the policy. */
    path: string;
    /** Name of the rule; null if it has none. */
    name: string | null;
    /** fault: an expression has no value, so that the rule does not match, or refuses the visit if it decides about access. depends: on something that is not described. */
    result: 'matches' | 'does_not_match' | 'fault' | 'depends' | 'not_reached';
    /** The expressions that were evaluated, up to the first that is not true. */
    expressions: ({
      /** The expression, as it is written. */
      expression: string;
      result: 'true' | 'false' | 'fault' | 'depends';
      /** The reason for a fault, or what it depends on, in words; null for true and false. */
      reason: string | null;
    })[];
    /** The actions that were run. */
    actions: ({
      /** Place of the action in the policy. */
      path: string;
      type: string;
      result: 'passes' | 'answers' | 'refuses' | 'closes' | 'forwards' | 'depends';
      /** The effect of the action, in words. */
      effect: string;
    })[];
  })[];
  /** true: more expressions and actions were run than are listed. */
  is_cut: boolean;
  /** The request as it goes on; null if nothing goes on. */
  upstream: {
    /** The URL as rules have changed it, or that of the endpoint. */
    url: string;
    /** The headers, in order. The gateway adds its own, such as X-Forwarded-For. */
    headers: {
      name: string;
      value: string;
    }[];
  } | null;
  /** The answer that the visitor gets, as far as it is known; else null. */
  answer: {
    /** Status of the answer. */
    status_code: number;
    /** The headers, in order. The gateway adds its own, such as X-Forwarded-For. */
    headers: {
      name: string;
      value: string;
    }[];
    /** The body, cut short if it is long; null if the upstream sends it, or the gateway its page of errors. */
    body: string | null;
  } | null;
}

export interface AppUser {
  /** Unique identifier of the user. */
  id: string;
  /** URI of this user's resource. */
  uri: string;
  /** The provider that says who it is. */
  identity_provider: {
    /** oidc, or the name of the provider. */
    name: string;
    /** The URL that the provider is known by. */
    url: string;
  };
  /** The id of the user at the provider. */
  provider_user_id: string;
  /** Always empty: the name and the address say who it is. */
  username: string;
  /** E-mail address; empty if the provider told none. */
  email: string;
  /** Name; empty if the provider told none. */
  name: string;
  /** When the user signed in for the first time, RFC 3339. */
  created_at: string;
  /** When a session of the user was last used, to within five minutes, RFC 3339. */
  last_active: string;
  /** When the user last signed in, RFC 3339. */
  last_login: string;
}

export interface AppSession {
  /** Unique identifier of the session. */
  id: string;
  /** URI of this session's resource. */
  uri: string;
  /** Where the user signed in. */
  public_url: string;
  /** The browser that has the session. */
  browser_session: {
    /** How the browser names itself. */
    user_agent: {
      /** The header User-Agent of the browser. */
      raw: string;
      /** Name of the browser; empty where `raw` does not say it. */
      browser_name: string;
      /** Version of the browser; empty where `raw` does not say it. */
      browser_version: string;
      /** desktop, mobile or tablet; empty where `raw` does not say it. */
      device_type: string;
      /** Name of the system; empty where `raw` does not say it. */
      os_name: string;
      /** Version of the system; empty where `raw` does not say it. */
      os_version: string;
    };
    /** Address of the browser when the session was last written down. */
    ip_address: string;
    /** Always null: places of addresses are not looked up. */
    location: string | null;
  };
  application_user: Ref;
  /** The provider that says who it is. */
  identity_provider: {
    /** oidc, or the name of the provider. */
    name: string;
    /** The URL that the provider is known by. */
    url: string;
  };
  /** E-mail address of the user; empty if the provider told none. */
  email: string;
  /** Name of the user; empty if the provider told none. */
  name: string;
  /** Groups of the user, as far as they are kept. */
  groups: string[];
  /** When the user signed in, RFC 3339. */
  created_at: string;
  /** When the session was last used, to within five minutes, RFC 3339. */
  last_active: string;
  /** When the session ends if it is not used before, RFC 3339. */
  expires_at: string;
  /** Always null: the sessions of endpoints are those of edges. */
  endpoint: string | null;
  edge: Ref;
  route: Ref;
}

/** An entry of vaults in a configuration. */
export interface VaultEntry {
  /** Kind of the entry. */
  kind: 'vaults';
  /** Name of the entry, unique among those that are named alike: 1 to 100 letters, digits, ".", "_" and "-", the first of them a letter or digit. It is kept apart from the resource, whose fields it does not touch. */
  name: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Name of the vault, by which policies find it: letters, digits, "-", "_", "." and "/". */
  vault: string;
}

export interface Vault {
  /** Unique identifier of the vault. */
  id: string;
  /** URI of this vault's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** When it was changed last, RFC 3339. */
  updated_at: string;
  /** Name of the vault, by which policies find it: letters, digits, "-", "_", "." and "/". */
  name: string;
  /** Id of the user or bot that created it. */
  created_by: string;
  /** Id of the user or bot that changed it last. */
  last_updated_by: string;
}

export interface VaultCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Name of the vault, by which policies find it: letters, digits, "-", "_", "." and "/". */
  name: string;
}

export interface VaultUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Name of the vault, by which policies find it: letters, digits, "-", "_", "." and "/". */
  name?: string;
}

export interface VaultSecret {
  /** Unique identifier of the vault secret. */
  id: string;
  /** URI of this secret's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** When it was changed last, RFC 3339. */
  updated_at: string;
  /** Name of the secret, by which policies find it: letters, digits, "-", "_", "." and "/". */
  name: string;
  vault: Ref;
  /** Name of the vault that holds it. */
  vault_name: string;
  created_by: Ref;
  last_updated_by: Ref;
}

export interface VaultSecretCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Name of the secret, by which policies find it: letters, digits, "-", "_", "." and "/". */
  name: string;
  /** The secret itself, max 16384 bytes. It is never returned. */
  value: string;
  /** Id of the vault that holds it. */
  vault_id?: string;
  /** Name of the vault that holds it. */
  vault_name?: string;
}

export interface VaultSecretUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Name of the secret, by which policies find it: letters, digits, "-", "_", "." and "/". */
  name?: string;
  /** The secret itself, max 16384 bytes. It is never returned. */
  value?: string;
}

export interface VaultsSecretsPage {
  /** The entries of this page, newest first. */
  secrets: VaultSecret[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface EventDestination {
  /** Unique identifier of the event destination. */
  id: string;
  /** URI of this destination's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Always `json`. */
  format: string;
  /** Where events are sent: one of the targets. Secrets are left out. */
  target: {
    /** The server, without the secret. */
    webhook?: {
      /** Where events are posted, one in each request. https only. Redirects are not followed. Max 2048 bytes. */
      url: string;
    };
    /** People who get e-mail. */
    email?: {
      /** Who gets the messages: 1 to 5 addresses. */
      to: string[];
    };
    /** The syslog receiver. */
    syslog?: {
      /** Name or address of the receiver. Max 253 bytes. */
      host: string;
      /** Port of the receiver; by default 6514 (tls), 601 (tcp) or 514 (udp). */
      port: number;
      /** tls (the default): the certificate must be valid for the host. tcp: nothing is encrypted. udp: nothing is encrypted, and nobody knows what arrives. */
      protocol: 'tls' | 'tcp' | 'udp';
    };
    /** The collector, without values of headers. */
    otlp?: {
      /** URL of an OpenTelemetry collector; `/v1/logs` is added where it is missing. http or https. Max 2048 bytes. */
      url: string;
      /** Names of the headers that are sent. */
      header_names: string[];
    };
    /** The file. */
    file?: {
      /** Name of a file in the account's folder below GATEHOUSE_EVENT_FILES, on the machine of the process that sends: letters, digits, ".", "_" and "-". */
      name: string;
    };
    /** Always null. */
    kinesis: null;
    /** Always null. */
    firehose: null;
    /** Always null. */
    cloudwatch_logs: null;
    /** Always null. */
    datadog: null;
    /** Always null. */
    azure_logs_ingestion: null;
  };
  /** Progress of the events so far. */
  delivery: {
    /** unused: no subscription names it. failing: the last attempt failed, and is repeated. */
    status: 'unused' | 'ok' | 'failing';
    /** When an event arrived last, RFC 3339; null if none has. */
    sent_at: string | null;
    /** When attempts began to fail, RFC 3339; null if the last one did not. */
    failing_since: string | null;
    /** When the next attempt is due, RFC 3339. */
    retries_at: string | null;
    /** The reason why an event did not arrive last, or not for everybody. */
    last_error: string | null;
    /** Events that were given up and are kept: `POST /event_destinations/{id}/resend` sends them again. */
    undelivered: number;
    /** Events that were given up and are not kept, or whose change had been deleted before they were sent. */
    lost: number;
  };
}

export interface EventDestinationCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Always `json`. */
  format?: string;
  /** Where events are sent. Exactly one of the targets. */
  target: {
    /** A server of yours that takes events over HTTPS. */
    webhook?: {
      /** Where events are posted, one in each request. https only. Redirects are not followed. Max 2048 bytes. */
      url: string;
      /** Signs what is sent, as Standard Webhooks describe it: `whsec_` and 24 to 64 random bytes in base64. It is never returned. An update may leave it out while the URL stays as it is. */
      secret?: string;
    };
    /** People who get e-mail: at most one message a minute, with all that happened until then. */
    email?: {
      /** Who gets the messages: 1 to 5 addresses. */
      to: string[];
    };
    /** A syslog receiver, which gets messages as RFC 5424 has them. */
    syslog?: {
      /** Name or address of the receiver. Max 253 bytes. */
      host: string;
      /** Port of the receiver; by default 6514 (tls), 601 (tcp) or 514 (udp). */
      port?: number;
      /** tls (the default): the certificate must be valid for the host. tcp: nothing is encrypted. udp: nothing is encrypted, and nobody knows what arrives. */
      protocol?: 'tls' | 'tcp' | 'udp';
    };
    /** An OpenTelemetry collector, which gets log records over OTLP/HTTP. */
    otlp?: {
      /** URL of an OpenTelemetry collector; `/v1/logs` is added where it is missing. http or https. Max 2048 bytes. */
      url: string;
      /** Headers of each request, such as one with a key. https only. An update may leave them out while the URL stays as it is. */
      headers?: {
        /** Name of the header. */
        name: string;
        /** Its value. It is never returned. */
        value: string;
      }[];
    };
    /** A file on the machine of Gatehouse, one line of JSON for each event. */
    file?: {
      /** Name of a file in the account's folder below GATEHOUSE_EVENT_FILES, on the machine of the process that sends: letters, digits, ".", "_" and "-". */
      name: string;
    };
    /** Not offered. Leave it out, or null. */
    kinesis?: unknown;
    /** Not offered. Leave it out, or null. */
    firehose?: unknown;
    /** Not offered. Leave it out, or null. */
    cloudwatch_logs?: unknown;
    /** Not offered. Leave it out, or null. */
    datadog?: unknown;
    /** Not offered. Leave it out, or null. */
    azure_logs_ingestion?: unknown;
  };
}

export interface EventDestinationUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Always `json`. */
  format?: string;
  /** Where events are sent. Exactly one of the targets. */
  target?: {
    /** A server of yours that takes events over HTTPS. */
    webhook?: {
      /** Where events are posted, one in each request. https only. Redirects are not followed. Max 2048 bytes. */
      url: string;
      /** Signs what is sent, as Standard Webhooks describe it: `whsec_` and 24 to 64 random bytes in base64. It is never returned. An update may leave it out while the URL stays as it is. */
      secret?: string;
    };
    /** People who get e-mail: at most one message a minute, with all that happened until then. */
    email?: {
      /** Who gets the messages: 1 to 5 addresses. */
      to: string[];
    };
    /** A syslog receiver, which gets messages as RFC 5424 has them. */
    syslog?: {
      /** Name or address of the receiver. Max 253 bytes. */
      host: string;
      /** Port of the receiver; by default 6514 (tls), 601 (tcp) or 514 (udp). */
      port?: number;
      /** tls (the default): the certificate must be valid for the host. tcp: nothing is encrypted. udp: nothing is encrypted, and nobody knows what arrives. */
      protocol?: 'tls' | 'tcp' | 'udp';
    };
    /** An OpenTelemetry collector, which gets log records over OTLP/HTTP. */
    otlp?: {
      /** URL of an OpenTelemetry collector; `/v1/logs` is added where it is missing. http or https. Max 2048 bytes. */
      url: string;
      /** Headers of each request, such as one with a key. https only. An update may leave them out while the URL stays as it is. */
      headers?: {
        /** Name of the header. */
        name: string;
        /** Its value. It is never returned. */
        value: string;
      }[];
    };
    /** A file on the machine of Gatehouse, one line of JSON for each event. */
    file?: {
      /** Name of a file in the account's folder below GATEHOUSE_EVENT_FILES, on the machine of the process that sends: letters, digits, ".", "_" and "-". */
      name: string;
    };
    /** Not offered. Leave it out, or null. */
    kinesis?: unknown;
    /** Not offered. Leave it out, or null. */
    firehose?: unknown;
    /** Not offered. Leave it out, or null. */
    cloudwatch_logs?: unknown;
    /** Not offered. Leave it out, or null. */
    datadog?: unknown;
    /** Not offered. Leave it out, or null. */
    azure_logs_ingestion?: unknown;
  };
}

export interface EventSubscription {
  /** Unique identifier of the event subscription. */
  id: string;
  /** URI of this subscription's resource. */
  uri: string;
  /** Creation time, RFC 3339. */
  created_at: string;
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Types of events that are sent. */
  sources: EventSource[];
  /** The event destinations that get them. */
  destinations: Ref[];
}

/** Events that happen from now on are sent. */
export interface EventSubscriptionCreate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Types of events that are sent. */
  sources: {
    /** Type of events. One of `account_created.v0`, `account_deleted.v0`, `account_updated.v0`, `agent_session_start.v0`, `agent_session_stop.v0`, `api_key_created.v0`, `api_key_deleted.v0`, `api_key_updated.v0`, `backend_down.v0`, `backend_up.v0`, `bot_user_created.v0`, `bot_user_deleted.v0`, `bot_user_updated.v0`, `certificate_authority_created.v0`, `certificate_authority_deleted.v0`, `certificate_authority_updated.v0`, `certificate_expiring.v0`, `certificate_expiring_over.v0`, `domain_created.v0`, `domain_deleted.v0`, `domain_updated.v0`, `endpoint_created.v0`, `endpoint_deleted.v0`, `endpoint_updated.v0`, `event_destination_created.v0`, `event_destination_deleted.v0`, `event_destination_updated.v0`, `event_subscription_created.v0`, `event_subscription_deleted.v0`, `event_subscription_updated.v0`, `failover_backend_created.v0`, `failover_backend_deleted.v0`, `failover_backend_updated.v0`, `http_request_complete.v0`, `http_response_backend_created.v0`, `http_response_backend_deleted.v0`, `http_response_backend_updated.v0`, `https_edge_created.v0`, `https_edge_deleted.v0`, `https_edge_route_created.v0`, `https_edge_route_deleted.v0`, `https_edge_route_updated.v0`, `https_edge_updated.v0`, `invitation_created.v0`, `invitation_deleted.v0`, `invitation_updated.v0`, `ip_policy_created.v0`, `ip_policy_deleted.v0`, `ip_policy_rule_created.v0`, `ip_policy_rule_deleted.v0`, `ip_policy_rule_updated.v0`, `ip_policy_updated.v0`, `ip_restriction_created.v0`, `ip_restriction_decision_created.v0`, `ip_restriction_decision_deleted.v0`, `ip_restriction_decision_updated.v0`, `ip_restriction_deleted.v0`, `ip_restriction_updated.v0`, `kubernetes_operator_created.v0`, `kubernetes_operator_deleted.v0`, `kubernetes_operator_updated.v0`, `operator_signed_in.v0`, `quota_nearly_used.v0`, `quota_nearly_used_over.v0`, `static_backend_created.v0`, `static_backend_deleted.v0`, `static_backend_updated.v0`, `tcp_address_created.v0`, `tcp_address_deleted.v0`, `tcp_address_updated.v0`, `tcp_connection_closed.v0`, `tcp_edge_created.v0`, `tcp_edge_deleted.v0`, `tcp_edge_updated.v0`, `tls_certificate_created.v0`, `tls_certificate_deleted.v0`, `tls_certificate_updated.v0`, `tls_edge_created.v0`, `tls_edge_deleted.v0`, `tls_edge_updated.v0`, `tunnel_credential_created.v0`, `tunnel_credential_deleted.v0`, `tunnel_credential_updated.v0`, `tunnel_group_backend_created.v0`, `tunnel_group_backend_deleted.v0`, `tunnel_group_backend_updated.v0`, `user_created.v0`, `user_deleted.v0`, `user_updated.v0`, `vault_created.v0`, `vault_deleted.v0`, `vault_secret_created.v0`, `vault_secret_deleted.v0`, `vault_secret_updated.v0`, `vault_updated.v0`, `visitor_sign_in_refused.v0`, `visitor_signed_in.v0`, `visitors_refused.v0`, `visitors_refused_over.v0`, `weighted_backend_created.v0`, `weighted_backend_deleted.v0`, `weighted_backend_updated.v0`. */
    type: string;
  }[];
  /** Ids of the event destinations that get them. */
  destination_ids: string[];
}

/** A list replaces the former one; [] keeps it, because official clients send it with every update. A source that is added counts from then on; events of one that is gone are not sent any more. */
export interface EventSubscriptionUpdate {
  /** Human-readable description. Optional, max 255 bytes. */
  description?: string;
  /** Arbitrary user-defined data. Optional, max 4096 bytes. Often serialized JSON. */
  metadata?: string;
  /** Types of events that are sent. */
  sources?: {
    /** Type of events. One of `account_created.v0`, `account_deleted.v0`, `account_updated.v0`, `agent_session_start.v0`, `agent_session_stop.v0`, `api_key_created.v0`, `api_key_deleted.v0`, `api_key_updated.v0`, `backend_down.v0`, `backend_up.v0`, `bot_user_created.v0`, `bot_user_deleted.v0`, `bot_user_updated.v0`, `certificate_authority_created.v0`, `certificate_authority_deleted.v0`, `certificate_authority_updated.v0`, `certificate_expiring.v0`, `certificate_expiring_over.v0`, `domain_created.v0`, `domain_deleted.v0`, `domain_updated.v0`, `endpoint_created.v0`, `endpoint_deleted.v0`, `endpoint_updated.v0`, `event_destination_created.v0`, `event_destination_deleted.v0`, `event_destination_updated.v0`, `event_subscription_created.v0`, `event_subscription_deleted.v0`, `event_subscription_updated.v0`, `failover_backend_created.v0`, `failover_backend_deleted.v0`, `failover_backend_updated.v0`, `http_request_complete.v0`, `http_response_backend_created.v0`, `http_response_backend_deleted.v0`, `http_response_backend_updated.v0`, `https_edge_created.v0`, `https_edge_deleted.v0`, `https_edge_route_created.v0`, `https_edge_route_deleted.v0`, `https_edge_route_updated.v0`, `https_edge_updated.v0`, `invitation_created.v0`, `invitation_deleted.v0`, `invitation_updated.v0`, `ip_policy_created.v0`, `ip_policy_deleted.v0`, `ip_policy_rule_created.v0`, `ip_policy_rule_deleted.v0`, `ip_policy_rule_updated.v0`, `ip_policy_updated.v0`, `ip_restriction_created.v0`, `ip_restriction_decision_created.v0`, `ip_restriction_decision_deleted.v0`, `ip_restriction_decision_updated.v0`, `ip_restriction_deleted.v0`, `ip_restriction_updated.v0`, `kubernetes_operator_created.v0`, `kubernetes_operator_deleted.v0`, `kubernetes_operator_updated.v0`, `operator_signed_in.v0`, `quota_nearly_used.v0`, `quota_nearly_used_over.v0`, `static_backend_created.v0`, `static_backend_deleted.v0`, `static_backend_updated.v0`, `tcp_address_created.v0`, `tcp_address_deleted.v0`, `tcp_address_updated.v0`, `tcp_connection_closed.v0`, `tcp_edge_created.v0`, `tcp_edge_deleted.v0`, `tcp_edge_updated.v0`, `tls_certificate_created.v0`, `tls_certificate_deleted.v0`, `tls_certificate_updated.v0`, `tls_edge_created.v0`, `tls_edge_deleted.v0`, `tls_edge_updated.v0`, `tunnel_credential_created.v0`, `tunnel_credential_deleted.v0`, `tunnel_credential_updated.v0`, `tunnel_group_backend_created.v0`, `tunnel_group_backend_deleted.v0`, `tunnel_group_backend_updated.v0`, `user_created.v0`, `user_deleted.v0`, `user_updated.v0`, `vault_created.v0`, `vault_deleted.v0`, `vault_secret_created.v0`, `vault_secret_deleted.v0`, `vault_secret_updated.v0`, `vault_updated.v0`, `visitor_sign_in_refused.v0`, `visitor_signed_in.v0`, `visitors_refused.v0`, `visitors_refused_over.v0`, `weighted_backend_created.v0`, `weighted_backend_deleted.v0`, `weighted_backend_updated.v0`. */
    type: string;
  }[];
  /** Ids of the event destinations that get them. */
  destination_ids?: string[];
}

export interface EventSource {
  /** Type of events. One of `account_created.v0`, `account_deleted.v0`, `account_updated.v0`, `agent_session_start.v0`, `agent_session_stop.v0`, `api_key_created.v0`, `api_key_deleted.v0`, `api_key_updated.v0`, `backend_down.v0`, `backend_up.v0`, `bot_user_created.v0`, `bot_user_deleted.v0`, `bot_user_updated.v0`, `certificate_authority_created.v0`, `certificate_authority_deleted.v0`, `certificate_authority_updated.v0`, `certificate_expiring.v0`, `certificate_expiring_over.v0`, `domain_created.v0`, `domain_deleted.v0`, `domain_updated.v0`, `endpoint_created.v0`, `endpoint_deleted.v0`, `endpoint_updated.v0`, `event_destination_created.v0`, `event_destination_deleted.v0`, `event_destination_updated.v0`, `event_subscription_created.v0`, `event_subscription_deleted.v0`, `event_subscription_updated.v0`, `failover_backend_created.v0`, `failover_backend_deleted.v0`, `failover_backend_updated.v0`, `http_request_complete.v0`, `http_response_backend_created.v0`, `http_response_backend_deleted.v0`, `http_response_backend_updated.v0`, `https_edge_created.v0`, `https_edge_deleted.v0`, `https_edge_route_created.v0`, `https_edge_route_deleted.v0`, `https_edge_route_updated.v0`, `https_edge_updated.v0`, `invitation_created.v0`, `invitation_deleted.v0`, `invitation_updated.v0`, `ip_policy_created.v0`, `ip_policy_deleted.v0`, `ip_policy_rule_created.v0`, `ip_policy_rule_deleted.v0`, `ip_policy_rule_updated.v0`, `ip_policy_updated.v0`, `ip_restriction_created.v0`, `ip_restriction_decision_created.v0`, `ip_restriction_decision_deleted.v0`, `ip_restriction_decision_updated.v0`, `ip_restriction_deleted.v0`, `ip_restriction_updated.v0`, `kubernetes_operator_created.v0`, `kubernetes_operator_deleted.v0`, `kubernetes_operator_updated.v0`, `operator_signed_in.v0`, `quota_nearly_used.v0`, `quota_nearly_used_over.v0`, `static_backend_created.v0`, `static_backend_deleted.v0`, `static_backend_updated.v0`, `tcp_address_created.v0`, `tcp_address_deleted.v0`, `tcp_address_updated.v0`, `tcp_connection_closed.v0`, `tcp_edge_created.v0`, `tcp_edge_deleted.v0`, `tcp_edge_updated.v0`, `tls_certificate_created.v0`, `tls_certificate_deleted.v0`, `tls_certificate_updated.v0`, `tls_edge_created.v0`, `tls_edge_deleted.v0`, `tls_edge_updated.v0`, `tunnel_credential_created.v0`, `tunnel_credential_deleted.v0`, `tunnel_credential_updated.v0`, `tunnel_group_backend_created.v0`, `tunnel_group_backend_deleted.v0`, `tunnel_group_backend_updated.v0`, `user_created.v0`, `user_deleted.v0`, `user_updated.v0`, `vault_created.v0`, `vault_deleted.v0`, `vault_secret_created.v0`, `vault_secret_deleted.v0`, `vault_secret_updated.v0`, `vault_updated.v0`, `visitor_sign_in_refused.v0`, `visitor_signed_in.v0`, `visitors_refused.v0`, `visitors_refused_over.v0`, `weighted_backend_created.v0`, `weighted_backend_deleted.v0`, `weighted_backend_updated.v0`. */
  type: string;
  /** URI of this source's resource. */
  uri: string;
}

export interface EventSourceCreate {
  /** Type of events. One of `account_created.v0`, `account_deleted.v0`, `account_updated.v0`, `agent_session_start.v0`, `agent_session_stop.v0`, `api_key_created.v0`, `api_key_deleted.v0`, `api_key_updated.v0`, `backend_down.v0`, `backend_up.v0`, `bot_user_created.v0`, `bot_user_deleted.v0`, `bot_user_updated.v0`, `certificate_authority_created.v0`, `certificate_authority_deleted.v0`, `certificate_authority_updated.v0`, `certificate_expiring.v0`, `certificate_expiring_over.v0`, `domain_created.v0`, `domain_deleted.v0`, `domain_updated.v0`, `endpoint_created.v0`, `endpoint_deleted.v0`, `endpoint_updated.v0`, `event_destination_created.v0`, `event_destination_deleted.v0`, `event_destination_updated.v0`, `event_subscription_created.v0`, `event_subscription_deleted.v0`, `event_subscription_updated.v0`, `failover_backend_created.v0`, `failover_backend_deleted.v0`, `failover_backend_updated.v0`, `http_request_complete.v0`, `http_response_backend_created.v0`, `http_response_backend_deleted.v0`, `http_response_backend_updated.v0`, `https_edge_created.v0`, `https_edge_deleted.v0`, `https_edge_route_created.v0`, `https_edge_route_deleted.v0`, `https_edge_route_updated.v0`, `https_edge_updated.v0`, `invitation_created.v0`, `invitation_deleted.v0`, `invitation_updated.v0`, `ip_policy_created.v0`, `ip_policy_deleted.v0`, `ip_policy_rule_created.v0`, `ip_policy_rule_deleted.v0`, `ip_policy_rule_updated.v0`, `ip_policy_updated.v0`, `ip_restriction_created.v0`, `ip_restriction_decision_created.v0`, `ip_restriction_decision_deleted.v0`, `ip_restriction_decision_updated.v0`, `ip_restriction_deleted.v0`, `ip_restriction_updated.v0`, `kubernetes_operator_created.v0`, `kubernetes_operator_deleted.v0`, `kubernetes_operator_updated.v0`, `operator_signed_in.v0`, `quota_nearly_used.v0`, `quota_nearly_used_over.v0`, `static_backend_created.v0`, `static_backend_deleted.v0`, `static_backend_updated.v0`, `tcp_address_created.v0`, `tcp_address_deleted.v0`, `tcp_address_updated.v0`, `tcp_connection_closed.v0`, `tcp_edge_created.v0`, `tcp_edge_deleted.v0`, `tcp_edge_updated.v0`, `tls_certificate_created.v0`, `tls_certificate_deleted.v0`, `tls_certificate_updated.v0`, `tls_edge_created.v0`, `tls_edge_deleted.v0`, `tls_edge_updated.v0`, `tunnel_credential_created.v0`, `tunnel_credential_deleted.v0`, `tunnel_credential_updated.v0`, `tunnel_group_backend_created.v0`, `tunnel_group_backend_deleted.v0`, `tunnel_group_backend_updated.v0`, `user_created.v0`, `user_deleted.v0`, `user_updated.v0`, `vault_created.v0`, `vault_deleted.v0`, `vault_secret_created.v0`, `vault_secret_deleted.v0`, `vault_secret_updated.v0`, `vault_updated.v0`, `visitor_sign_in_refused.v0`, `visitor_signed_in.v0`, `visitors_refused.v0`, `visitors_refused_over.v0`, `weighted_backend_created.v0`, `weighted_backend_deleted.v0`, `weighted_backend_updated.v0`. */
  type: string;
}

/** A source has nothing that could be changed. */
export type EventSourceUpdate = Record<string, never>;

export interface EventSourceList {
  /** All sources of the subscription. */
  sources: EventSource[];
  /** URI of this list. */
  uri: string;
}

export interface EventDestinationResend {
  /** Events that are sent again. */
  resent: number;
}

export interface EventDestinationTest {
  /** Whether the test event has arrived. */
  delivered: boolean;
  /** Why it did not arrive, or not for everybody; null if nothing is wrong. */
  error: string | null;
}

/** A moment of a configuration. */
export interface ConfigurationMoment {
  /** Version of the last change before it: the change log has that change. */
  version: number;
  /** When that change was made; null where the log has no change that old. */
  created_at: string | null;
}

export interface ConfigurationNames {
  /** One for each resource, by kind and name. */
  names: {
    /** Kind of the entry. */
    kind: string;
    /** Name of the entry. */
    name: string;
    /** Id of the resource. */
    id: string;
  }[];
}

export interface ConfigurationReturn {
  /** The moment to return to. A time in RFC 3339 form, which stands for the end of its second, or the version of a change, which stands for the state that it made. */
  at: string;
}

export interface ConfigurationFieldChange {
  /** The field, or the way to it: `routes./api.backend`. */
  field: string;
  /** Present value; null if the field is not set. For rules: those that go. */
  before: unknown;
  /** Future value; null if the field is not set. For rules: those that come. */
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

export interface UsersPage {
  /** The entries of this page, newest first. */
  users: User[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface InvitationsPage {
  /** The entries of this page, newest first. */
  invitations: Invitation[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
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

export interface HttpResponseBackendsPage {
  /** The entries of this page, newest first. */
  backends: HttpResponseBackend[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface WeightedBackendsPage {
  /** The entries of this page, newest first. */
  backends: WeightedBackend[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface FailoverBackendsPage {
  /** The entries of this page, newest first. */
  backends: FailoverBackend[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface CertificateAuthoritiesPage {
  /** The entries of this page, newest first. */
  certificate_authorities: CertificateAuthority[];
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

export interface TlsEdgesPage {
  /** The entries of this page, newest first. */
  tls_edges: TlsEdge[];
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

export interface KubernetesOperatorsPage {
  /** The entries of this page, newest first. */
  operators: KubernetesOperator[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface ApplicationUsersPage {
  /** The entries of this page, newest first. */
  application_users: AppUser[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface ApplicationSessionsPage {
  /** The entries of this page, newest first. */
  application_sessions: AppSession[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface VaultsPage {
  /** The entries of this page, newest first. */
  vaults: Vault[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface VaultSecretsPage {
  /** The entries of this page, newest first. */
  secrets: VaultSecret[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface EventDestinationsPage {
  /** The entries of this page, newest first. */
  event_destinations: EventDestination[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface EventSubscriptionsPage {
  /** The entries of this page, newest first. */
  event_subscriptions: EventSubscription[];
  /** URI of the list resource. */
  uri: string;
  /** URI of the next page, or null when there is no next page. */
  next_page_uri: string | null;
}

export interface Configuration {
  /** Entries in any order; each has a kind, a name, and the fields of its kind. */
  entries: (IpPolicyEntry | IpRestrictionEntry | StaticBackendEntry | TunnelGroupBackendEntry | HttpResponseBackendEntry | WeightedBackendEntry | FailoverBackendEntry | CertificateAuthorityEntry | TcpEdgeEntry | HttpsEdgeEntry | TlsEdgeEntry | ReservedDomainEntry | ReservedAddrEntry | CloudEndpointEntry | VaultEntry)[];
  moment?: ConfigurationMoment;
  /** With `at`: the moment before the last change; null if the change log has no earlier one. */
  earlier?: ConfigurationMoment | null;
  /** With `at`: the moment behind the next change; null if nothing has changed since. */
  later?: ConfigurationMoment | null;
  /** With `at`: the moment behind the first change in the change log; null if it has none. */
  first?: ConfigurationMoment | null;
  /** With `at`: ids of the resources, in the order of the entries. */
  ids?: string[];
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
  /** Answer of a dry run: would anybody be let in who is refused now? Exact for every address of IPv4 and IPv6. */
  admits_new?: {
    /** no: everybody who would come in could come in before, for certain. yes: an address that was refused would come in. unknown: something else than addresses decides. */
    answer: 'no' | 'yes' | 'unknown';
    /** Places that would admit somebody new; at most 100. */
    admissions: ({
      /** A place that people reach: an entry, the API, the dashboard, agents or an API key. */
      to: string;
      answer: 'yes' | 'unknown';
      /** An address that would come in; null where it is unknown. */
      example: string | null;
      /** The reason, in words. */
      text: string;
    })[];
    /** How many there are. */
    total: number;
  };
  /** One for each of these resources. */
  steps: ConfigurationStep[];
}

export interface ConfigurationDiff {
  from: ConfigurationMoment;
  /** The later moment; null: now. */
  to: ConfigurationMoment | null;
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

export interface ConfigurationReturned {
  moment: ConfigurationMoment;
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
  /** Answer of a dry run: would anybody be let in who is refused now? Exact for every address of IPv4 and IPv6. */
  admits_new?: {
    /** no: everybody who would come in could come in before, for certain. yes: an address that was refused would come in. unknown: something else than addresses decides. */
    answer: 'no' | 'yes' | 'unknown';
    /** Places that would admit somebody new; at most 100. */
    admissions: ({
      /** A place that people reach: an entry, the API, the dashboard, agents or an API key. */
      to: string;
      answer: 'yes' | 'unknown';
      /** An address that would come in; null where it is unknown. */
      example: string | null;
      /** The reason, in words. */
      text: string;
    })[];
    /** How many there are. */
    total: number;
  };
  /** One for each of these resources. */
  steps: ConfigurationStep[];
}

/** Parameters, body and response of every operation. */
export interface Operations {
  /** List users */
  UsersList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: UsersPage };
  /** Get user */
  UsersGet: { path: { id: string }; query: {}; body: undefined; response: User };
  /** Update user */
  UsersUpdate: { path: { id: string }; query: {}; body: UserUpdate | undefined; response: User };
  /** Create invitation */
  InvitationsCreate: { path: {}; query: {}; body: InvitationCreate; response: Invitation };
  /** List invitations */
  InvitationsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: InvitationsPage };
  /** Get invitation */
  InvitationsGet: { path: { id: string }; query: {}; body: undefined; response: Invitation };
  /** Update invitation */
  InvitationsUpdate: { path: { id: string }; query: {}; body: InvitationUpdate | undefined; response: Invitation };
  /** Delete invitation */
  InvitationsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
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
  /** Count the rules of IP policies */
  IpPolicyRuleCounts: { path: {}; query: {}; body: undefined; response: IpPolicyRuleCounts };
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
  StaticBackendsCreate: { path: {}; query: {}; body: StaticBackendCreate | undefined; response: StaticBackend };
  /** List static backends */
  StaticBackendsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: StaticBackendsPage };
  /** Get static backend */
  StaticBackendsGet: { path: { id: string }; query: {}; body: undefined; response: StaticBackend };
  /** Update static backend */
  StaticBackendsUpdate: { path: { id: string }; query: {}; body: StaticBackendUpdate | undefined; response: StaticBackend };
  /** Delete static backend */
  StaticBackendsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Show how the addresses of a static backend do */
  StaticBackendsHealth: { path: { id: string }; query: {}; body: undefined; response: StaticBackendHealth };
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
  /** Create HTTP response backend */
  HttpResponseBackendsCreate: { path: {}; query: {}; body: HttpResponseBackendCreate | undefined; response: HttpResponseBackend };
  /** List HTTP response backends */
  HttpResponseBackendsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: HttpResponseBackendsPage };
  /** Get HTTP response backend */
  HttpResponseBackendsGet: { path: { id: string }; query: {}; body: undefined; response: HttpResponseBackend };
  /** Update HTTP response backend */
  HttpResponseBackendsUpdate: { path: { id: string }; query: {}; body: HttpResponseBackendUpdate | undefined; response: HttpResponseBackend };
  /** Delete HTTP response backend */
  HttpResponseBackendsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Create weighted backend */
  WeightedBackendsCreate: { path: {}; query: {}; body: WeightedBackendCreate; response: WeightedBackend };
  /** List weighted backends */
  WeightedBackendsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: WeightedBackendsPage };
  /** Get weighted backend */
  WeightedBackendsGet: { path: { id: string }; query: {}; body: undefined; response: WeightedBackend };
  /** Update weighted backend */
  WeightedBackendsUpdate: { path: { id: string }; query: {}; body: WeightedBackendUpdate | undefined; response: WeightedBackend };
  /** Delete weighted backend */
  WeightedBackendsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Create failover backend */
  FailoverBackendsCreate: { path: {}; query: {}; body: FailoverBackendCreate; response: FailoverBackend };
  /** List failover backends */
  FailoverBackendsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: FailoverBackendsPage };
  /** Get failover backend */
  FailoverBackendsGet: { path: { id: string }; query: {}; body: undefined; response: FailoverBackend };
  /** Update failover backend */
  FailoverBackendsUpdate: { path: { id: string }; query: {}; body: FailoverBackendUpdate | undefined; response: FailoverBackend };
  /** Delete failover backend */
  FailoverBackendsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Create certificate authority */
  CertificateAuthoritiesCreate: { path: {}; query: {}; body: CertificateAuthorityCreate; response: CertificateAuthority };
  /** List certificate authorities */
  CertificateAuthoritiesList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: CertificateAuthoritiesPage };
  /** Get certificate authority */
  CertificateAuthoritiesGet: { path: { id: string }; query: {}; body: undefined; response: CertificateAuthority };
  /** Update certificate authority */
  CertificateAuthoritiesUpdate: { path: { id: string }; query: {}; body: CertificateAuthorityUpdate | undefined; response: CertificateAuthority };
  /** Delete certificate authority */
  CertificateAuthoritiesDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
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
  /** Replace TCP Edge Rate Limit Module */
  TcpEdgeRateLimitReplace: { path: { id: string }; query: {}; body: RateLimitModuleReplace; response: RateLimitModule };
  /** Get TCP Edge Rate Limit Module */
  TcpEdgeRateLimitGet: { path: { id: string }; query: {}; body: undefined; response: RateLimitModule };
  /** Delete TCP Edge Rate Limit Module */
  TcpEdgeRateLimitDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Replace TCP Edge Policy Module */
  TcpEdgePolicyReplace: { path: { id: string }; query: {}; body: PolicyModuleReplace | undefined; response: PolicyModule };
  /** Get TCP Edge Policy Module */
  TcpEdgePolicyGet: { path: { id: string }; query: {}; body: undefined; response: PolicyModule };
  /** Delete TCP Edge Policy Module */
  TcpEdgePolicyDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Replace TCP Edge Traffic Policy Module */
  TcpEdgeTrafficPolicyReplace: { path: { id: string }; query: {}; body: TrafficPolicyModuleReplace; response: TrafficPolicyModule };
  /** Get TCP Edge Traffic Policy Module */
  TcpEdgeTrafficPolicyGet: { path: { id: string }; query: {}; body: undefined; response: TrafficPolicyModule };
  /** Delete TCP Edge Traffic Policy Module */
  TcpEdgeTrafficPolicyDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Replace TCP Edge Backend Module */
  TcpEdgeBackendReplace: { path: { id: string }; query: {}; body: BackendModuleReplace | undefined; response: BackendModule };
  /** Get TCP Edge Backend Module */
  TcpEdgeBackendGet: { path: { id: string }; query: {}; body: undefined; response: BackendModule };
  /** Delete TCP Edge Backend Module */
  TcpEdgeBackendDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
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
  /** Replace HTTPS Edge Rate Limit Module */
  HttpsEdgeRateLimitReplace: { path: { id: string }; query: {}; body: RateLimitModuleReplace; response: RateLimitModule };
  /** Get HTTPS Edge Rate Limit Module */
  HttpsEdgeRateLimitGet: { path: { id: string }; query: {}; body: undefined; response: RateLimitModule };
  /** Delete HTTPS Edge Rate Limit Module */
  HttpsEdgeRateLimitDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Mutual TLS Module */
  HttpsEdgeMutualTlsReplace: { path: { id: string }; query: {}; body: MutualTlsModuleReplace | undefined; response: MutualTlsModule };
  /** Get HTTPS Edge Mutual TLS Module */
  HttpsEdgeMutualTlsGet: { path: { id: string }; query: {}; body: undefined; response: MutualTlsModule };
  /** Delete HTTPS Edge Mutual TLS Module */
  HttpsEdgeMutualTlsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge TLS Termination Module */
  HttpsEdgeTlsTerminationReplace: { path: { id: string }; query: {}; body: TlsTerminationModuleReplace | undefined; response: TlsTerminationModule };
  /** Get HTTPS Edge TLS Termination Module */
  HttpsEdgeTlsTerminationGet: { path: { id: string }; query: {}; body: undefined; response: TlsTerminationModule };
  /** Delete HTTPS Edge TLS Termination Module */
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
  /** Replace HTTPS Edge Route Rate Limit Module */
  HttpsEdgeRouteRateLimitReplace: { path: { edge_id: string; id: string }; query: {}; body: RateLimitModuleReplace; response: RateLimitModule };
  /** Get HTTPS Edge Route Rate Limit Module */
  HttpsEdgeRouteRateLimitGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: RateLimitModule };
  /** Delete HTTPS Edge Route Rate Limit Module */
  HttpsEdgeRouteRateLimitDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route User Agent Filter Module */
  HttpsEdgeRouteUserAgentFilterReplace: { path: { edge_id: string; id: string }; query: {}; body: UserAgentFilterModuleReplace | undefined; response: UserAgentFilterModule };
  /** Get HTTPS Edge Route User Agent Filter Module */
  HttpsEdgeRouteUserAgentFilterGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: UserAgentFilterModule };
  /** Delete HTTPS Edge Route User Agent Filter Module */
  HttpsEdgeRouteUserAgentFilterDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route Basic Auth Module */
  HttpsEdgeRouteBasicAuthReplace: { path: { edge_id: string; id: string }; query: {}; body: BasicAuthModuleReplace; response: BasicAuthModule };
  /** Get HTTPS Edge Route Basic Auth Module */
  HttpsEdgeRouteBasicAuthGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: BasicAuthModule };
  /** Delete HTTPS Edge Route Basic Auth Module */
  HttpsEdgeRouteBasicAuthDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route JWT Validation Module */
  HttpsEdgeRouteJwtValidationReplace: { path: { edge_id: string; id: string }; query: {}; body: JwtValidationModuleReplace; response: JwtValidationModule };
  /** Get HTTPS Edge Route JWT Validation Module */
  HttpsEdgeRouteJwtValidationGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: JwtValidationModule };
  /** Delete HTTPS Edge Route JWT Validation Module */
  HttpsEdgeRouteJwtValidationDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route OAuth Module */
  HttpsEdgeRouteOauthReplace: { path: { edge_id: string; id: string }; query: {}; body: OauthModuleReplace; response: OauthModule };
  /** Get HTTPS Edge Route OAuth Module */
  HttpsEdgeRouteOauthGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: OauthModule };
  /** Delete HTTPS Edge Route OAuth Module */
  HttpsEdgeRouteOauthDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route OIDC Module */
  HttpsEdgeRouteOidcReplace: { path: { edge_id: string; id: string }; query: {}; body: OidcModuleReplace; response: OidcModule };
  /** Get HTTPS Edge Route OIDC Module */
  HttpsEdgeRouteOidcGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: OidcModule };
  /** Delete HTTPS Edge Route OIDC Module */
  HttpsEdgeRouteOidcDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route Webhook Verification Module */
  HttpsEdgeRouteWebhookVerificationReplace: { path: { edge_id: string; id: string }; query: {}; body: WebhookVerificationModuleReplace; response: WebhookVerificationModule };
  /** Get HTTPS Edge Route Webhook Verification Module */
  HttpsEdgeRouteWebhookVerificationGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: WebhookVerificationModule };
  /** Delete HTTPS Edge Route Webhook Verification Module */
  HttpsEdgeRouteWebhookVerificationDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route Policy Module */
  HttpsEdgeRoutePolicyReplace: { path: { edge_id: string; id: string }; query: {}; body: PolicyModuleReplace | undefined; response: PolicyModule };
  /** Get HTTPS Edge Route Policy Module */
  HttpsEdgeRoutePolicyGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: PolicyModule };
  /** Delete HTTPS Edge Route Policy Module */
  HttpsEdgeRoutePolicyDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route Traffic Policy Module */
  HttpsEdgeRouteTrafficPolicyReplace: { path: { edge_id: string; id: string }; query: {}; body: TrafficPolicyModuleReplace; response: TrafficPolicyModule };
  /** Get HTTPS Edge Route Traffic Policy Module */
  HttpsEdgeRouteTrafficPolicyGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: TrafficPolicyModule };
  /** Delete HTTPS Edge Route Traffic Policy Module */
  HttpsEdgeRouteTrafficPolicyDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route Circuit Breaker Module */
  HttpsEdgeRouteCircuitBreakerReplace: { path: { edge_id: string; id: string }; query: {}; body: CircuitBreakerModuleReplace | undefined; response: CircuitBreakerModule };
  /** Get HTTPS Edge Route Circuit Breaker Module */
  HttpsEdgeRouteCircuitBreakerGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: CircuitBreakerModule };
  /** Delete HTTPS Edge Route Circuit Breaker Module */
  HttpsEdgeRouteCircuitBreakerDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route WebSocket TCP Converter Module */
  HttpsEdgeRouteWebsocketTcpConverterReplace: { path: { edge_id: string; id: string }; query: {}; body: WebsocketTcpConverterModuleReplace | undefined; response: WebsocketTcpConverterModule };
  /** Get HTTPS Edge Route WebSocket TCP Converter Module */
  HttpsEdgeRouteWebsocketTcpConverterGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: WebsocketTcpConverterModule };
  /** Delete HTTPS Edge Route WebSocket TCP Converter Module */
  HttpsEdgeRouteWebsocketTcpConverterDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route Redirect Module */
  HttpsEdgeRouteRedirectReplace: { path: { edge_id: string; id: string }; query: {}; body: RedirectModuleReplace; response: RedirectModule };
  /** Get HTTPS Edge Route Redirect Module */
  HttpsEdgeRouteRedirectGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: RedirectModule };
  /** Delete HTTPS Edge Route Redirect Module */
  HttpsEdgeRouteRedirectDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route Backend Module */
  HttpsEdgeRouteBackendReplace: { path: { edge_id: string; id: string }; query: {}; body: BackendModuleReplace | undefined; response: BackendModule };
  /** Get HTTPS Edge Route Backend Module */
  HttpsEdgeRouteBackendGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: BackendModule };
  /** Delete HTTPS Edge Route Backend Module */
  HttpsEdgeRouteBackendDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Replace HTTPS Edge Route Path Rewrite Module */
  HttpsEdgeRoutePathRewriteReplace: { path: { edge_id: string; id: string }; query: {}; body: PathRewriteModuleReplace | undefined; response: PathRewriteModule };
  /** Get HTTPS Edge Route Path Rewrite Module */
  HttpsEdgeRoutePathRewriteGet: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: PathRewriteModule };
  /** Delete HTTPS Edge Route Path Rewrite Module */
  HttpsEdgeRoutePathRewriteDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
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
  /** Delete HTTPS Edge Route saml Module */
  HttpsEdgeRouteSamlDelete: { path: { edge_id: string; id: string }; query: {}; body: undefined; response: undefined };
  /** Create TLS edge */
  TlsEdgesCreate: { path: {}; query: {}; body: TlsEdgeCreate | undefined; response: TlsEdge };
  /** List TLS edges */
  TlsEdgesList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: TlsEdgesPage };
  /** Get TLS edge */
  TlsEdgesGet: { path: { id: string }; query: {}; body: undefined; response: TlsEdge };
  /** Update TLS edge */
  TlsEdgesUpdate: { path: { id: string }; query: {}; body: TlsEdgeUpdate | undefined; response: TlsEdge };
  /** Delete TLS edge */
  TlsEdgesDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Replace TLS Edge IP Restriction Module */
  TlsEdgeIpRestrictionReplace: { path: { id: string }; query: {}; body: IpRestrictionModuleReplace | undefined; response: IpRestrictionModule };
  /** Get TLS Edge IP Restriction Module */
  TlsEdgeIpRestrictionGet: { path: { id: string }; query: {}; body: undefined; response: IpRestrictionModule };
  /** Delete TLS Edge IP Restriction Module */
  TlsEdgeIpRestrictionDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Replace TLS Edge Rate Limit Module */
  TlsEdgeRateLimitReplace: { path: { id: string }; query: {}; body: RateLimitModuleReplace; response: RateLimitModule };
  /** Get TLS Edge Rate Limit Module */
  TlsEdgeRateLimitGet: { path: { id: string }; query: {}; body: undefined; response: RateLimitModule };
  /** Delete TLS Edge Rate Limit Module */
  TlsEdgeRateLimitDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Replace TLS Edge Mutual TLS Module */
  TlsEdgeMutualTlsReplace: { path: { id: string }; query: {}; body: MutualTlsModuleReplace | undefined; response: MutualTlsModule };
  /** Get TLS Edge Mutual TLS Module */
  TlsEdgeMutualTlsGet: { path: { id: string }; query: {}; body: undefined; response: MutualTlsModule };
  /** Delete TLS Edge Mutual TLS Module */
  TlsEdgeMutualTlsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Replace TLS Edge TLS Termination Module */
  TlsEdgeTlsTerminationReplace: { path: { id: string }; query: {}; body: TlsTerminationModuleReplace | undefined; response: TlsTerminationModule };
  /** Get TLS Edge TLS Termination Module */
  TlsEdgeTlsTerminationGet: { path: { id: string }; query: {}; body: undefined; response: TlsTerminationModule };
  /** Delete TLS Edge TLS Termination Module */
  TlsEdgeTlsTerminationDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Replace TLS Edge Policy Module */
  TlsEdgePolicyReplace: { path: { id: string }; query: {}; body: PolicyModuleReplace | undefined; response: PolicyModule };
  /** Get TLS Edge Policy Module */
  TlsEdgePolicyGet: { path: { id: string }; query: {}; body: undefined; response: PolicyModule };
  /** Delete TLS Edge Policy Module */
  TlsEdgePolicyDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Replace TLS Edge Traffic Policy Module */
  TlsEdgeTrafficPolicyReplace: { path: { id: string }; query: {}; body: TrafficPolicyModuleReplace; response: TrafficPolicyModule };
  /** Get TLS Edge Traffic Policy Module */
  TlsEdgeTrafficPolicyGet: { path: { id: string }; query: {}; body: undefined; response: TrafficPolicyModule };
  /** Delete TLS Edge Traffic Policy Module */
  TlsEdgeTrafficPolicyDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Replace TLS Edge Backend Module */
  TlsEdgeBackendReplace: { path: { id: string }; query: {}; body: BackendModuleReplace | undefined; response: BackendModule };
  /** Get TLS Edge Backend Module */
  TlsEdgeBackendGet: { path: { id: string }; query: {}; body: undefined; response: BackendModule };
  /** Delete TLS Edge Backend Module */
  TlsEdgeBackendDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
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
  /** Get the public addresses */
  PublicAddressesGet: { path: {}; query: {}; body: undefined; response: PublicAddresses };
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
  /** Create cloud endpoint */
  EndpointsCreate: { path: {}; query: {}; body: EndpointCreate; response: Endpoint };
  /** List endpoints */
  EndpointsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: EndpointsPage };
  /** Update cloud endpoint */
  EndpointsUpdate: { path: { id: string }; query: {}; body: EndpointUpdate | undefined; response: Endpoint };
  /** Delete cloud endpoint */
  EndpointsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Get endpoint */
  EndpointsGet: { path: { id: string }; query: {}; body: undefined; response: Endpoint };
  /** Create Kubernetes operator */
  KubernetesOperatorsCreate: { path: {}; query: {}; body: KubernetesOperatorCreate | undefined; response: KubernetesOperator };
  /** List Kubernetes operators */
  KubernetesOperatorsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: KubernetesOperatorsPage };
  /** Get Kubernetes operator */
  KubernetesOperatorsGet: { path: { id: string }; query: {}; body: undefined; response: KubernetesOperator };
  /** Update Kubernetes operator */
  KubernetesOperatorsUpdate: { path: { id: string }; query: {}; body: KubernetesOperatorUpdate | undefined; response: KubernetesOperator };
  /** Delete Kubernetes operator */
  KubernetesOperatorsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** List endpoints bound to a Kubernetes operator */
  KubernetesOperatorsBoundEndpoints: { path: { id: string }; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: KubernetesOperatorBoundEndpointsPage };
  /** Count the traffic of the last hour */
  TrafficHistory: { path: {}; query: { edge_id?: string }; body: undefined; response: TrafficHistory };
  /** Show how edges, routes and backends do */
  TrafficHealth: { path: {}; query: {}; body: undefined; response: TrafficHealth };
  /** Watch traffic as it happens */
  TrafficEvents: { path: {}; query: {}; body: undefined; response: string };
  /** List decisions about visitors */
  DecisionsList: { path: {}; query: { limit?: number; before_id?: string; since?: string; until?: string; edge_id?: string; route_id?: string; backend_id?: string; policy_id?: string; tunnel_session_id?: string; source?: string; verdict?: string; module?: string; restriction_id?: string; person?: string; host?: string; status?: string; request_id?: string }; body: undefined; response: DecisionsPage };
  /** Explain a decision about a visitor */
  DecisionsExplain: { path: { id: string }; query: {}; body: undefined; response: DecisionExplanation };
  /** Count decisions about visitors */
  DecisionsSummary: { path: {}; query: { since?: string; until?: string; edge_id?: string; route_id?: string; backend_id?: string; policy_id?: string; tunnel_session_id?: string; source?: string; verdict?: string; module?: string; restriction_id?: string; person?: string; host?: string; status?: string; step?: string }; body: undefined; response: DecisionSummary };
  /** List what has most decisions */
  DecisionsTop: { path: {}; query: { since?: string; until?: string; edge_id?: string; route_id?: string; backend_id?: string; policy_id?: string; tunnel_session_id?: string; source?: string; verdict?: string; module?: string; restriction_id?: string; person?: string; host?: string; status?: string; by?: string; order?: string; top?: string }; body: undefined; response: DecisionTop };
  /** Inspect requests */
  InspectionsCreate: { path: {}; query: {}; body: InspectionCreate; response: Inspection };
  /** List inspections */
  InspectionsList: { path: {}; query: {}; body: undefined; response: Inspections };
  /** Show what an inspection has recorded */
  InspectionsGet: { path: { id: string }; query: { after?: string }; body: undefined; response: InspectionWithRequests };
  /** End an inspection */
  InspectionsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Replay a recorded request */
  InspectionsReplay: { path: { id: string }; query: {}; body: InspectionReplay; response: InspectionReplayed };
  /** Rehearse a change on real visitors */
  RehearsalsCreate: { path: {}; query: {}; body: RehearsalRequest; response: Rehearsal };
  /** List changes */
  ChangesList: { path: {}; query: { limit?: number; before_id?: string; filter?: string; kind?: string; resource_id?: string; actor?: string; since?: string; until?: string }; body: undefined; response: ChangesPage };
  /** Revert a change */
  ChangesRevert: { path: { id: string }; query: { dry_run?: 'true' | 'false' }; body: undefined; response: Revert };
  /** Explain what happens to an address */
  IpCheck: { path: {}; query: {}; body: IpCheckRequest; response: IpCheckVerdict };
  /** Find rules that never decide, and what nothing guards */
  RuleFindings: { path: {}; query: { ip_policy_id?: string }; body: undefined; response: RuleFindings };
  /** Try a traffic policy */
  TrafficPolicyCheck: { path: {}; query: {}; body: TrafficPolicyCheckRequest; response: TrafficPolicyCheckVerdict };
  /** List application users */
  ApplicationUsersList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: ApplicationUsersPage };
  /** Get application user */
  ApplicationUsersGet: { path: { id: string }; query: {}; body: undefined; response: AppUser };
  /** Delete application user */
  ApplicationUsersDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** List application sessions */
  ApplicationSessionsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: ApplicationSessionsPage };
  /** Get application session */
  ApplicationSessionsGet: { path: { id: string }; query: {}; body: undefined; response: AppSession };
  /** Delete application session */
  ApplicationSessionsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Create vault */
  VaultsCreate: { path: {}; query: {}; body: VaultCreate; response: Vault };
  /** List vaults */
  VaultsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: VaultsPage };
  /** Get vault */
  VaultsGet: { path: { id: string }; query: {}; body: undefined; response: Vault };
  /** Update vault */
  VaultsUpdate: { path: { id: string }; query: {}; body: VaultUpdate | undefined; response: Vault };
  /** Delete vault */
  VaultsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** List secrets of a vault */
  VaultsSecrets: { path: { id: string }; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: VaultsSecretsPage };
  /** Create vault secret */
  VaultSecretsCreate: { path: {}; query: {}; body: VaultSecretCreate; response: VaultSecret };
  /** List vault secrets */
  VaultSecretsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: VaultSecretsPage };
  /** Get vault secret */
  VaultSecretsGet: { path: { id: string }; query: {}; body: undefined; response: VaultSecret };
  /** Update vault secret */
  VaultSecretsUpdate: { path: { id: string }; query: {}; body: VaultSecretUpdate | undefined; response: VaultSecret };
  /** Delete vault secret */
  VaultSecretsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Create event destination */
  EventDestinationsCreate: { path: {}; query: {}; body: EventDestinationCreate; response: EventDestination };
  /** List event destinations */
  EventDestinationsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: EventDestinationsPage };
  /** Get event destination */
  EventDestinationsGet: { path: { id: string }; query: {}; body: undefined; response: EventDestination };
  /** Update event destination */
  EventDestinationsUpdate: { path: { id: string }; query: {}; body: EventDestinationUpdate | undefined; response: EventDestination };
  /** Delete event destination */
  EventDestinationsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Send undelivered events again */
  EventDestinationsResend: { path: { id: string }; query: {}; body: undefined; response: EventDestinationResend };
  /** Send a test event */
  EventDestinationsTest: { path: { id: string }; query: {}; body: undefined; response: EventDestinationTest };
  /** Create event subscription */
  EventSubscriptionsCreate: { path: {}; query: {}; body: EventSubscriptionCreate; response: EventSubscription };
  /** List event subscriptions */
  EventSubscriptionsList: { path: {}; query: { limit?: number; before_id?: string; filter?: string }; body: undefined; response: EventSubscriptionsPage };
  /** Get event subscription */
  EventSubscriptionsGet: { path: { id: string }; query: {}; body: undefined; response: EventSubscription };
  /** Update event subscription */
  EventSubscriptionsUpdate: { path: { id: string }; query: {}; body: EventSubscriptionUpdate | undefined; response: EventSubscription };
  /** Delete event subscription */
  EventSubscriptionsDelete: { path: { id: string }; query: {}; body: undefined; response: undefined };
  /** Add a source to an event subscription */
  EventSourcesCreate: { path: { id: string }; query: {}; body: EventSourceCreate; response: EventSource };
  /** List sources of an event subscription */
  EventSourcesList: { path: { id: string }; query: {}; body: undefined; response: EventSourceList };
  /** Get a source of an event subscription */
  EventSourcesGet: { path: { id: string; type: string }; query: {}; body: undefined; response: EventSource };
  /** Update a source of an event subscription */
  EventSourcesUpdate: { path: { id: string; type: string }; query: {}; body: EventSourceUpdate | undefined; response: EventSource };
  /** Remove a source from an event subscription */
  EventSourcesDelete: { path: { id: string; type: string }; query: {}; body: undefined; response: undefined };
  /** Get the configuration */
  ConfigurationGet: { path: {}; query: { at?: string }; body: undefined; response: Configuration };
  /** Make the configuration what the entries say */
  ConfigurationApply: { path: {}; query: { dry_run?: 'true' | 'false'; prune?: 'true' | 'false' }; body: (IpPolicyEntry | IpRestrictionEntry | StaticBackendEntry | TunnelGroupBackendEntry | HttpResponseBackendEntry | WeightedBackendEntry | FailoverBackendEntry | CertificateAuthorityEntry | TcpEdgeEntry | HttpsEdgeEntry | TlsEdgeEntry | ReservedDomainEntry | ReservedAddrEntry | CloudEndpointEntry | VaultEntry)[]; response: ConfigurationApplied };
  /** List the names of the configuration */
  ConfigurationNames: { path: {}; query: {}; body: undefined; response: ConfigurationNames };
  /** Compare the configuration of two moments */
  ConfigurationDiff: { path: {}; query: { from?: string; to?: string }; body: undefined; response: ConfigurationDiff };
  /** Return to the configuration of a moment */
  ConfigurationReturn: { path: {}; query: { dry_run?: 'true' | 'false' }; body: ConfigurationReturn; response: ConfigurationReturned };
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
  /** Accept invitation */
  InvitationsAccept: { path: {}; query: {}; body: InvitationAccept; response: AcceptedInvitation };
  /** Show what a link invites to */
  InvitationsShow: { path: {}; query: {}; body: InvitationAccept; response: ShownInvitation };
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
  UsersList: { method: 'GET', path: '/users', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'users' },
  UsersGet: { method: 'GET', path: '/users/{id}', query: [], idempotencyKey: false },
  UsersUpdate: { method: 'PATCH', path: '/users/{id}', query: [], idempotencyKey: false },
  InvitationsCreate: { method: 'POST', path: '/invitations', query: [], idempotencyKey: true },
  InvitationsList: { method: 'GET', path: '/invitations', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'invitations' },
  InvitationsGet: { method: 'GET', path: '/invitations/{id}', query: [], idempotencyKey: false },
  InvitationsUpdate: { method: 'PATCH', path: '/invitations/{id}', query: [], idempotencyKey: false },
  InvitationsDelete: { method: 'DELETE', path: '/invitations/{id}', query: [], idempotencyKey: false },
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
  IpPolicyRuleCounts: { method: 'GET', path: '/ip_policy_rule_counts', query: [], idempotencyKey: false },
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
  StaticBackendsHealth: { method: 'GET', path: '/backends/static/{id}/health', query: [], idempotencyKey: false },
  TunnelGroupBackendsCreate: { method: 'POST', path: '/backends/tunnel_group', query: [], idempotencyKey: true },
  TunnelGroupBackendsList: { method: 'GET', path: '/backends/tunnel_group', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'backends' },
  TunnelGroupBackendsGet: { method: 'GET', path: '/backends/tunnel_group/{id}', query: [], idempotencyKey: false },
  TunnelGroupBackendsUpdate: { method: 'PATCH', path: '/backends/tunnel_group/{id}', query: [], idempotencyKey: false },
  TunnelGroupBackendsDelete: { method: 'DELETE', path: '/backends/tunnel_group/{id}', query: [], idempotencyKey: false },
  HttpResponseBackendsCreate: { method: 'POST', path: '/backends/http_response', query: [], idempotencyKey: true },
  HttpResponseBackendsList: { method: 'GET', path: '/backends/http_response', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'backends' },
  HttpResponseBackendsGet: { method: 'GET', path: '/backends/http_response/{id}', query: [], idempotencyKey: false },
  HttpResponseBackendsUpdate: { method: 'PATCH', path: '/backends/http_response/{id}', query: [], idempotencyKey: false },
  HttpResponseBackendsDelete: { method: 'DELETE', path: '/backends/http_response/{id}', query: [], idempotencyKey: false },
  WeightedBackendsCreate: { method: 'POST', path: '/backends/weighted', query: [], idempotencyKey: true },
  WeightedBackendsList: { method: 'GET', path: '/backends/weighted', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'backends' },
  WeightedBackendsGet: { method: 'GET', path: '/backends/weighted/{id}', query: [], idempotencyKey: false },
  WeightedBackendsUpdate: { method: 'PATCH', path: '/backends/weighted/{id}', query: [], idempotencyKey: false },
  WeightedBackendsDelete: { method: 'DELETE', path: '/backends/weighted/{id}', query: [], idempotencyKey: false },
  FailoverBackendsCreate: { method: 'POST', path: '/backends/failover', query: [], idempotencyKey: true },
  FailoverBackendsList: { method: 'GET', path: '/backends/failover', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'backends' },
  FailoverBackendsGet: { method: 'GET', path: '/backends/failover/{id}', query: [], idempotencyKey: false },
  FailoverBackendsUpdate: { method: 'PATCH', path: '/backends/failover/{id}', query: [], idempotencyKey: false },
  FailoverBackendsDelete: { method: 'DELETE', path: '/backends/failover/{id}', query: [], idempotencyKey: false },
  CertificateAuthoritiesCreate: { method: 'POST', path: '/certificate_authorities', query: [], idempotencyKey: true },
  CertificateAuthoritiesList: { method: 'GET', path: '/certificate_authorities', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'certificate_authorities' },
  CertificateAuthoritiesGet: { method: 'GET', path: '/certificate_authorities/{id}', query: [], idempotencyKey: false },
  CertificateAuthoritiesUpdate: { method: 'PATCH', path: '/certificate_authorities/{id}', query: [], idempotencyKey: false },
  CertificateAuthoritiesDelete: { method: 'DELETE', path: '/certificate_authorities/{id}', query: [], idempotencyKey: false },
  TcpEdgesCreate: { method: 'POST', path: '/edges/tcp', query: [], idempotencyKey: true },
  TcpEdgesList: { method: 'GET', path: '/edges/tcp', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'tcp_edges' },
  TcpEdgesGet: { method: 'GET', path: '/edges/tcp/{id}', query: [], idempotencyKey: false },
  TcpEdgesUpdate: { method: 'PATCH', path: '/edges/tcp/{id}', query: [], idempotencyKey: false },
  TcpEdgesDelete: { method: 'DELETE', path: '/edges/tcp/{id}', query: [], idempotencyKey: false },
  TcpEdgeIpRestrictionReplace: { method: 'PUT', path: '/edges/tcp/{id}/ip_restriction', query: [], idempotencyKey: false },
  TcpEdgeIpRestrictionGet: { method: 'GET', path: '/edges/tcp/{id}/ip_restriction', query: [], idempotencyKey: false },
  TcpEdgeIpRestrictionDelete: { method: 'DELETE', path: '/edges/tcp/{id}/ip_restriction', query: [], idempotencyKey: false },
  TcpEdgeRateLimitReplace: { method: 'PUT', path: '/edges/tcp/{id}/rate_limit', query: [], idempotencyKey: false },
  TcpEdgeRateLimitGet: { method: 'GET', path: '/edges/tcp/{id}/rate_limit', query: [], idempotencyKey: false },
  TcpEdgeRateLimitDelete: { method: 'DELETE', path: '/edges/tcp/{id}/rate_limit', query: [], idempotencyKey: false },
  TcpEdgePolicyReplace: { method: 'PUT', path: '/edges/tcp/{id}/policy', query: [], idempotencyKey: false },
  TcpEdgePolicyGet: { method: 'GET', path: '/edges/tcp/{id}/policy', query: [], idempotencyKey: false },
  TcpEdgePolicyDelete: { method: 'DELETE', path: '/edges/tcp/{id}/policy', query: [], idempotencyKey: false },
  TcpEdgeTrafficPolicyReplace: { method: 'PUT', path: '/edges/tcp/{id}/traffic_policy', query: [], idempotencyKey: false },
  TcpEdgeTrafficPolicyGet: { method: 'GET', path: '/edges/tcp/{id}/traffic_policy', query: [], idempotencyKey: false },
  TcpEdgeTrafficPolicyDelete: { method: 'DELETE', path: '/edges/tcp/{id}/traffic_policy', query: [], idempotencyKey: false },
  TcpEdgeBackendReplace: { method: 'PUT', path: '/edges/tcp/{id}/backend', query: [], idempotencyKey: false },
  TcpEdgeBackendGet: { method: 'GET', path: '/edges/tcp/{id}/backend', query: [], idempotencyKey: false },
  TcpEdgeBackendDelete: { method: 'DELETE', path: '/edges/tcp/{id}/backend', query: [], idempotencyKey: false },
  HttpsEdgesCreate: { method: 'POST', path: '/edges/https', query: [], idempotencyKey: true },
  HttpsEdgesList: { method: 'GET', path: '/edges/https', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'https_edges' },
  HttpsEdgesGet: { method: 'GET', path: '/edges/https/{id}', query: [], idempotencyKey: false },
  HttpsEdgesUpdate: { method: 'PATCH', path: '/edges/https/{id}', query: [], idempotencyKey: false },
  HttpsEdgesDelete: { method: 'DELETE', path: '/edges/https/{id}', query: [], idempotencyKey: false },
  HttpsEdgeRateLimitReplace: { method: 'PUT', path: '/edges/https/{id}/rate_limit', query: [], idempotencyKey: false },
  HttpsEdgeRateLimitGet: { method: 'GET', path: '/edges/https/{id}/rate_limit', query: [], idempotencyKey: false },
  HttpsEdgeRateLimitDelete: { method: 'DELETE', path: '/edges/https/{id}/rate_limit', query: [], idempotencyKey: false },
  HttpsEdgeMutualTlsReplace: { method: 'PUT', path: '/edges/https/{id}/mutual_tls', query: [], idempotencyKey: false },
  HttpsEdgeMutualTlsGet: { method: 'GET', path: '/edges/https/{id}/mutual_tls', query: [], idempotencyKey: false },
  HttpsEdgeMutualTlsDelete: { method: 'DELETE', path: '/edges/https/{id}/mutual_tls', query: [], idempotencyKey: false },
  HttpsEdgeTlsTerminationReplace: { method: 'PUT', path: '/edges/https/{id}/tls_termination', query: [], idempotencyKey: false },
  HttpsEdgeTlsTerminationGet: { method: 'GET', path: '/edges/https/{id}/tls_termination', query: [], idempotencyKey: false },
  HttpsEdgeTlsTerminationDelete: { method: 'DELETE', path: '/edges/https/{id}/tls_termination', query: [], idempotencyKey: false },
  HttpsEdgeRoutesCreate: { method: 'POST', path: '/edges/https/{edge_id}/routes', query: [], idempotencyKey: true },
  HttpsEdgeRoutesList: { method: 'GET', path: '/edges/https/{edge_id}/routes', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'routes' },
  HttpsEdgeRoutesGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}', query: [], idempotencyKey: false },
  HttpsEdgeRoutesUpdate: { method: 'PATCH', path: '/edges/https/{edge_id}/routes/{id}', query: [], idempotencyKey: false },
  HttpsEdgeRoutesDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}', query: [], idempotencyKey: false },
  HttpsEdgeRouteIpRestrictionReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/ip_restriction', query: [], idempotencyKey: false },
  HttpsEdgeRouteIpRestrictionGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/ip_restriction', query: [], idempotencyKey: false },
  HttpsEdgeRouteIpRestrictionDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/ip_restriction', query: [], idempotencyKey: false },
  HttpsEdgeRouteRateLimitReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/rate_limit', query: [], idempotencyKey: false },
  HttpsEdgeRouteRateLimitGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/rate_limit', query: [], idempotencyKey: false },
  HttpsEdgeRouteRateLimitDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/rate_limit', query: [], idempotencyKey: false },
  HttpsEdgeRouteUserAgentFilterReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/user_agent_filter', query: [], idempotencyKey: false },
  HttpsEdgeRouteUserAgentFilterGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/user_agent_filter', query: [], idempotencyKey: false },
  HttpsEdgeRouteUserAgentFilterDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/user_agent_filter', query: [], idempotencyKey: false },
  HttpsEdgeRouteBasicAuthReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/basic_auth', query: [], idempotencyKey: false },
  HttpsEdgeRouteBasicAuthGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/basic_auth', query: [], idempotencyKey: false },
  HttpsEdgeRouteBasicAuthDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/basic_auth', query: [], idempotencyKey: false },
  HttpsEdgeRouteJwtValidationReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/jwt_validation', query: [], idempotencyKey: false },
  HttpsEdgeRouteJwtValidationGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/jwt_validation', query: [], idempotencyKey: false },
  HttpsEdgeRouteJwtValidationDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/jwt_validation', query: [], idempotencyKey: false },
  HttpsEdgeRouteOauthReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/oauth', query: [], idempotencyKey: false },
  HttpsEdgeRouteOauthGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/oauth', query: [], idempotencyKey: false },
  HttpsEdgeRouteOauthDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/oauth', query: [], idempotencyKey: false },
  HttpsEdgeRouteOidcReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/oidc', query: [], idempotencyKey: false },
  HttpsEdgeRouteOidcGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/oidc', query: [], idempotencyKey: false },
  HttpsEdgeRouteOidcDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/oidc', query: [], idempotencyKey: false },
  HttpsEdgeRouteWebhookVerificationReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/webhook_verification', query: [], idempotencyKey: false },
  HttpsEdgeRouteWebhookVerificationGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/webhook_verification', query: [], idempotencyKey: false },
  HttpsEdgeRouteWebhookVerificationDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/webhook_verification', query: [], idempotencyKey: false },
  HttpsEdgeRoutePolicyReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/policy', query: [], idempotencyKey: false },
  HttpsEdgeRoutePolicyGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/policy', query: [], idempotencyKey: false },
  HttpsEdgeRoutePolicyDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/policy', query: [], idempotencyKey: false },
  HttpsEdgeRouteTrafficPolicyReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/traffic_policy', query: [], idempotencyKey: false },
  HttpsEdgeRouteTrafficPolicyGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/traffic_policy', query: [], idempotencyKey: false },
  HttpsEdgeRouteTrafficPolicyDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/traffic_policy', query: [], idempotencyKey: false },
  HttpsEdgeRouteCircuitBreakerReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/circuit_breaker', query: [], idempotencyKey: false },
  HttpsEdgeRouteCircuitBreakerGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/circuit_breaker', query: [], idempotencyKey: false },
  HttpsEdgeRouteCircuitBreakerDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/circuit_breaker', query: [], idempotencyKey: false },
  HttpsEdgeRouteWebsocketTcpConverterReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/websocket_tcp_converter', query: [], idempotencyKey: false },
  HttpsEdgeRouteWebsocketTcpConverterGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/websocket_tcp_converter', query: [], idempotencyKey: false },
  HttpsEdgeRouteWebsocketTcpConverterDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/websocket_tcp_converter', query: [], idempotencyKey: false },
  HttpsEdgeRouteRedirectReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/redirect', query: [], idempotencyKey: false },
  HttpsEdgeRouteRedirectGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/redirect', query: [], idempotencyKey: false },
  HttpsEdgeRouteRedirectDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/redirect', query: [], idempotencyKey: false },
  HttpsEdgeRouteBackendReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/backend', query: [], idempotencyKey: false },
  HttpsEdgeRouteBackendGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/backend', query: [], idempotencyKey: false },
  HttpsEdgeRouteBackendDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/backend', query: [], idempotencyKey: false },
  HttpsEdgeRoutePathRewriteReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/path_rewrite', query: [], idempotencyKey: false },
  HttpsEdgeRoutePathRewriteGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/path_rewrite', query: [], idempotencyKey: false },
  HttpsEdgeRoutePathRewriteDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/path_rewrite', query: [], idempotencyKey: false },
  HttpsEdgeRouteRequestHeadersReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/request_headers', query: [], idempotencyKey: false },
  HttpsEdgeRouteRequestHeadersGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/request_headers', query: [], idempotencyKey: false },
  HttpsEdgeRouteRequestHeadersDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/request_headers', query: [], idempotencyKey: false },
  HttpsEdgeRouteResponseHeadersReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/response_headers', query: [], idempotencyKey: false },
  HttpsEdgeRouteResponseHeadersGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/response_headers', query: [], idempotencyKey: false },
  HttpsEdgeRouteResponseHeadersDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/response_headers', query: [], idempotencyKey: false },
  HttpsEdgeRouteCompressionReplace: { method: 'PUT', path: '/edges/https/{edge_id}/routes/{id}/compression', query: [], idempotencyKey: false },
  HttpsEdgeRouteCompressionGet: { method: 'GET', path: '/edges/https/{edge_id}/routes/{id}/compression', query: [], idempotencyKey: false },
  HttpsEdgeRouteCompressionDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/compression', query: [], idempotencyKey: false },
  HttpsEdgeRouteSamlDelete: { method: 'DELETE', path: '/edges/https/{edge_id}/routes/{id}/saml', query: [], idempotencyKey: false },
  TlsEdgesCreate: { method: 'POST', path: '/edges/tls', query: [], idempotencyKey: true },
  TlsEdgesList: { method: 'GET', path: '/edges/tls', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'tls_edges' },
  TlsEdgesGet: { method: 'GET', path: '/edges/tls/{id}', query: [], idempotencyKey: false },
  TlsEdgesUpdate: { method: 'PATCH', path: '/edges/tls/{id}', query: [], idempotencyKey: false },
  TlsEdgesDelete: { method: 'DELETE', path: '/edges/tls/{id}', query: [], idempotencyKey: false },
  TlsEdgeIpRestrictionReplace: { method: 'PUT', path: '/edges/tls/{id}/ip_restriction', query: [], idempotencyKey: false },
  TlsEdgeIpRestrictionGet: { method: 'GET', path: '/edges/tls/{id}/ip_restriction', query: [], idempotencyKey: false },
  TlsEdgeIpRestrictionDelete: { method: 'DELETE', path: '/edges/tls/{id}/ip_restriction', query: [], idempotencyKey: false },
  TlsEdgeRateLimitReplace: { method: 'PUT', path: '/edges/tls/{id}/rate_limit', query: [], idempotencyKey: false },
  TlsEdgeRateLimitGet: { method: 'GET', path: '/edges/tls/{id}/rate_limit', query: [], idempotencyKey: false },
  TlsEdgeRateLimitDelete: { method: 'DELETE', path: '/edges/tls/{id}/rate_limit', query: [], idempotencyKey: false },
  TlsEdgeMutualTlsReplace: { method: 'PUT', path: '/edges/tls/{id}/mutual_tls', query: [], idempotencyKey: false },
  TlsEdgeMutualTlsGet: { method: 'GET', path: '/edges/tls/{id}/mutual_tls', query: [], idempotencyKey: false },
  TlsEdgeMutualTlsDelete: { method: 'DELETE', path: '/edges/tls/{id}/mutual_tls', query: [], idempotencyKey: false },
  TlsEdgeTlsTerminationReplace: { method: 'PUT', path: '/edges/tls/{id}/tls_termination', query: [], idempotencyKey: false },
  TlsEdgeTlsTerminationGet: { method: 'GET', path: '/edges/tls/{id}/tls_termination', query: [], idempotencyKey: false },
  TlsEdgeTlsTerminationDelete: { method: 'DELETE', path: '/edges/tls/{id}/tls_termination', query: [], idempotencyKey: false },
  TlsEdgePolicyReplace: { method: 'PUT', path: '/edges/tls/{id}/policy', query: [], idempotencyKey: false },
  TlsEdgePolicyGet: { method: 'GET', path: '/edges/tls/{id}/policy', query: [], idempotencyKey: false },
  TlsEdgePolicyDelete: { method: 'DELETE', path: '/edges/tls/{id}/policy', query: [], idempotencyKey: false },
  TlsEdgeTrafficPolicyReplace: { method: 'PUT', path: '/edges/tls/{id}/traffic_policy', query: [], idempotencyKey: false },
  TlsEdgeTrafficPolicyGet: { method: 'GET', path: '/edges/tls/{id}/traffic_policy', query: [], idempotencyKey: false },
  TlsEdgeTrafficPolicyDelete: { method: 'DELETE', path: '/edges/tls/{id}/traffic_policy', query: [], idempotencyKey: false },
  TlsEdgeBackendReplace: { method: 'PUT', path: '/edges/tls/{id}/backend', query: [], idempotencyKey: false },
  TlsEdgeBackendGet: { method: 'GET', path: '/edges/tls/{id}/backend', query: [], idempotencyKey: false },
  TlsEdgeBackendDelete: { method: 'DELETE', path: '/edges/tls/{id}/backend', query: [], idempotencyKey: false },
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
  PublicAddressesGet: { method: 'GET', path: '/public_addresses', query: [], idempotencyKey: false },
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
  EndpointsCreate: { method: 'POST', path: '/endpoints', query: [], idempotencyKey: true },
  EndpointsList: { method: 'GET', path: '/endpoints', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'endpoints' },
  EndpointsUpdate: { method: 'PATCH', path: '/endpoints/{id}', query: [], idempotencyKey: false },
  EndpointsDelete: { method: 'DELETE', path: '/endpoints/{id}', query: [], idempotencyKey: false },
  EndpointsGet: { method: 'GET', path: '/endpoints/{id}', query: [], idempotencyKey: false },
  KubernetesOperatorsCreate: { method: 'POST', path: '/kubernetes_operators', query: [], idempotencyKey: true },
  KubernetesOperatorsList: { method: 'GET', path: '/kubernetes_operators', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'operators' },
  KubernetesOperatorsGet: { method: 'GET', path: '/kubernetes_operators/{id}', query: [], idempotencyKey: false },
  KubernetesOperatorsUpdate: { method: 'PATCH', path: '/kubernetes_operators/{id}', query: [], idempotencyKey: false },
  KubernetesOperatorsDelete: { method: 'DELETE', path: '/kubernetes_operators/{id}', query: [], idempotencyKey: false },
  KubernetesOperatorsBoundEndpoints: { method: 'GET', path: '/kubernetes_operators/{id}/bound_endpoints', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'endpoints' },
  TrafficHistory: { method: 'GET', path: '/traffic/history', query: ['edge_id'], idempotencyKey: false },
  TrafficHealth: { method: 'GET', path: '/traffic/health', query: [], idempotencyKey: false },
  TrafficEvents: { method: 'GET', path: '/traffic/events', query: [], idempotencyKey: false },
  DecisionsList: { method: 'GET', path: '/decisions', query: ['limit', 'before_id', 'since', 'until', 'edge_id', 'route_id', 'backend_id', 'policy_id', 'tunnel_session_id', 'source', 'verdict', 'module', 'restriction_id', 'person', 'host', 'status', 'request_id'], idempotencyKey: false, list: 'decisions' },
  DecisionsExplain: { method: 'GET', path: '/decisions/{id}/explanation', query: [], idempotencyKey: false },
  DecisionsSummary: { method: 'GET', path: '/decisions/summary', query: ['since', 'until', 'edge_id', 'route_id', 'backend_id', 'policy_id', 'tunnel_session_id', 'source', 'verdict', 'module', 'restriction_id', 'person', 'host', 'status', 'step'], idempotencyKey: false },
  DecisionsTop: { method: 'GET', path: '/decisions/top', query: ['since', 'until', 'edge_id', 'route_id', 'backend_id', 'policy_id', 'tunnel_session_id', 'source', 'verdict', 'module', 'restriction_id', 'person', 'host', 'status', 'by', 'order', 'top'], idempotencyKey: false },
  InspectionsCreate: { method: 'POST', path: '/inspections', query: [], idempotencyKey: false },
  InspectionsList: { method: 'GET', path: '/inspections', query: [], idempotencyKey: false },
  InspectionsGet: { method: 'GET', path: '/inspections/{id}', query: ['after'], idempotencyKey: false },
  InspectionsDelete: { method: 'DELETE', path: '/inspections/{id}', query: [], idempotencyKey: false },
  InspectionsReplay: { method: 'POST', path: '/inspections/{id}/replays', query: [], idempotencyKey: false },
  RehearsalsCreate: { method: 'POST', path: '/rehearsals', query: [], idempotencyKey: false },
  ChangesList: { method: 'GET', path: '/changes', query: ['limit', 'before_id', 'filter', 'kind', 'resource_id', 'actor', 'since', 'until'], idempotencyKey: false, list: 'changes' },
  ChangesRevert: { method: 'POST', path: '/changes/{id}/revert', query: ['dry_run'], idempotencyKey: false },
  IpCheck: { method: 'POST', path: '/ip_check', query: [], idempotencyKey: false },
  RuleFindings: { method: 'GET', path: '/rule_findings', query: ['ip_policy_id'], idempotencyKey: false },
  TrafficPolicyCheck: { method: 'POST', path: '/traffic_policy_check', query: [], idempotencyKey: false },
  ApplicationUsersList: { method: 'GET', path: '/app/users', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'application_users' },
  ApplicationUsersGet: { method: 'GET', path: '/app/users/{id}', query: [], idempotencyKey: false },
  ApplicationUsersDelete: { method: 'DELETE', path: '/app/users/{id}', query: [], idempotencyKey: false },
  ApplicationSessionsList: { method: 'GET', path: '/app/sessions', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'application_sessions' },
  ApplicationSessionsGet: { method: 'GET', path: '/app/sessions/{id}', query: [], idempotencyKey: false },
  ApplicationSessionsDelete: { method: 'DELETE', path: '/app/sessions/{id}', query: [], idempotencyKey: false },
  VaultsCreate: { method: 'POST', path: '/vaults', query: [], idempotencyKey: true },
  VaultsList: { method: 'GET', path: '/vaults', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'vaults' },
  VaultsGet: { method: 'GET', path: '/vaults/{id}', query: [], idempotencyKey: false },
  VaultsUpdate: { method: 'PATCH', path: '/vaults/{id}', query: [], idempotencyKey: false },
  VaultsDelete: { method: 'DELETE', path: '/vaults/{id}', query: [], idempotencyKey: false },
  VaultsSecrets: { method: 'GET', path: '/vaults/{id}/secrets', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'secrets' },
  VaultSecretsCreate: { method: 'POST', path: '/vault_secrets', query: [], idempotencyKey: true },
  VaultSecretsList: { method: 'GET', path: '/vault_secrets', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'secrets' },
  VaultSecretsGet: { method: 'GET', path: '/vault_secrets/{id}', query: [], idempotencyKey: false },
  VaultSecretsUpdate: { method: 'PATCH', path: '/vault_secrets/{id}', query: [], idempotencyKey: false },
  VaultSecretsDelete: { method: 'DELETE', path: '/vault_secrets/{id}', query: [], idempotencyKey: false },
  EventDestinationsCreate: { method: 'POST', path: '/event_destinations', query: [], idempotencyKey: true },
  EventDestinationsList: { method: 'GET', path: '/event_destinations', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'event_destinations' },
  EventDestinationsGet: { method: 'GET', path: '/event_destinations/{id}', query: [], idempotencyKey: false },
  EventDestinationsUpdate: { method: 'PATCH', path: '/event_destinations/{id}', query: [], idempotencyKey: false },
  EventDestinationsDelete: { method: 'DELETE', path: '/event_destinations/{id}', query: [], idempotencyKey: false },
  EventDestinationsResend: { method: 'POST', path: '/event_destinations/{id}/resend', query: [], idempotencyKey: false },
  EventDestinationsTest: { method: 'POST', path: '/event_destinations/{id}/test', query: [], idempotencyKey: false },
  EventSubscriptionsCreate: { method: 'POST', path: '/event_subscriptions', query: [], idempotencyKey: true },
  EventSubscriptionsList: { method: 'GET', path: '/event_subscriptions', query: ['limit', 'before_id', 'filter'], idempotencyKey: false, list: 'event_subscriptions' },
  EventSubscriptionsGet: { method: 'GET', path: '/event_subscriptions/{id}', query: [], idempotencyKey: false },
  EventSubscriptionsUpdate: { method: 'PATCH', path: '/event_subscriptions/{id}', query: [], idempotencyKey: false },
  EventSubscriptionsDelete: { method: 'DELETE', path: '/event_subscriptions/{id}', query: [], idempotencyKey: false },
  EventSourcesCreate: { method: 'POST', path: '/event_subscriptions/{id}/sources', query: [], idempotencyKey: false },
  EventSourcesList: { method: 'GET', path: '/event_subscriptions/{id}/sources', query: [], idempotencyKey: false },
  EventSourcesGet: { method: 'GET', path: '/event_subscriptions/{id}/sources/{type}', query: [], idempotencyKey: false },
  EventSourcesUpdate: { method: 'PATCH', path: '/event_subscriptions/{id}/sources/{type}', query: [], idempotencyKey: false },
  EventSourcesDelete: { method: 'DELETE', path: '/event_subscriptions/{id}/sources/{type}', query: [], idempotencyKey: false },
  ConfigurationGet: { method: 'GET', path: '/configuration', query: ['at'], idempotencyKey: false },
  ConfigurationApply: { method: 'POST', path: '/configuration', query: ['dry_run', 'prune'], idempotencyKey: false },
  ConfigurationNames: { method: 'GET', path: '/configuration/names', query: [], idempotencyKey: false },
  ConfigurationDiff: { method: 'GET', path: '/configuration/diff', query: ['from', 'to'], idempotencyKey: false },
  ConfigurationReturn: { method: 'POST', path: '/configuration/return', query: ['dry_run'], idempotencyKey: false },
  QuotasList: { method: 'GET', path: '/quotas', query: [], idempotencyKey: false },
  OpenApi: { method: 'GET', path: '/openapi.json', query: [], idempotencyKey: false },
  ConfigurationSchema: { method: 'GET', path: '/configuration.schema.json', query: [], idempotencyKey: false },
  Health: { method: 'GET', path: '/healthz', query: [], idempotencyKey: false },
  LocalCa: { method: 'GET', path: '/local_ca.pem', query: [], idempotencyKey: false },
  InvitationsAccept: { method: 'POST', path: '/invitations/accept', query: [], idempotencyKey: false },
  InvitationsShow: { method: 'POST', path: '/invitations/show', query: [], idempotencyKey: false },
  Readiness: { method: 'GET', path: '/readyz', query: [], idempotencyKey: false },
};
