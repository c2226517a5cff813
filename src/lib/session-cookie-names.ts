/** The cookie of a dashboard session, which the API sets and the gateway keeps from upstreams. */
export const plainSessionCookie = 'gatehouse_session';
/** Browsers take a cookie of this name only over TLS, for this host alone. */
export const secureSessionCookie = `__Host-${plainSessionCookie}`;
/** The cookie of a sign-in that is under way at an identity provider, and the same over TLS. */
export const plainLoginCookie = `${plainSessionCookie}_login`;
export const secureLoginCookie = `${secureSessionCookie}_login`;
/** Part of the name of every cookie by which the gateway knows visitors who have signed in. */
export const visitorCookieMark = 'gatehouse_visitor';
