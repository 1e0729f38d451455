// The German texts of the account pages.
import type { Translation } from "../../../src/kernel/pages/page-template.ts";

/** The texts of the layout, and of errors that these pages meet; for the pages of every plugin. */
export const germanLayout: Translation = {
  texts: {
    "Caps lock is on.": "Die Feststelltaste ist an.",
    "Check this.": "Prüfe diese Angabe.",
    "Fill this in.": "Fülle dieses Feld aus.",
    Hide: "Verbergen",
    "Hide the password": "Passwort verbergen",
    Show: "Zeigen",
    "Show the password": "Passwort zeigen",
    "This is not an email address.": "Das ist keine E-Mail-Adresse.",
    "Too short.": "Zu kurz.",
    "Too many attempts. Try again in {time}.": "Zu viele Versuche. Versuch es noch einmal in: {time}.",
    "You are offline. Try again when you are connected.":
      "Du bist offline. Versuch es noch einmal, wenn du wieder verbunden bist.",
    "Your agents, moored at home.": "Deine Agenten, sicher vertäut.",
    "This page needs JavaScript.": "Diese Seite braucht JavaScript.",
    "Berth could not be reached. Try again.": "Berth ist nicht erreichbar. Versuch es noch einmal.",
    "Sign in": "Anmelden",
  },
  errors: {
    ACCOUNT_DISABLED: "Dieses Konto ist gesperrt. Frag den Betreiber dieses Dienstes.",
    AGENT_LIMIT_REACHED:
      "Dein Tarif hat keinen Platz für einen weiteren Agenten. Entferne einen, oder wähle einen größeren Tarif.",
    BACKEND_UNAVAILABLE: "Der Dienst ist gerade nicht erreichbar. Versuch es gleich noch einmal.",
    BAD_CREDENTIALS: "E-Mail-Adresse oder Passwort stimmt nicht.",
    BOT_DETECTED: "Diese Anfrage sieht nach einem Programm aus. Öffne die Seite in einem Browser.",
    CLAIM_NOT_FOUND: "Dieser Link gilt nicht, nicht mehr, oder wurde schon benutzt.",
    FOREIGN_ORIGIN: "Diese Anfrage kommt von einer anderen Seite. Öffne Berth unter seiner eigenen Adresse.",
    INTERNAL: "Bei uns ist etwas schiefgegangen. Versuch es später noch einmal.",
    INVALID_EMAIL: "Das ist keine gültige E-Mail-Adresse.",
    INVALID_INPUT: "Eine Angabe ist ungültig. Prüfe die Felder.",
    INVALID_LINK: "Dieser Link gilt nicht, nicht mehr, oder wurde schon benutzt. Fordere einen neuen an.",
    INVALID_PASSWORD: "Dieses Passwort ist nicht möglich. Wähle ein anderes.",
    INVALID_REFERRAL_CODE: "Diesen Empfehlungscode gibt es nicht.",
    INVALID_TOTP: "Dieser Code stimmt nicht oder wurde schon benutzt.",
    PASSWORD_TOO_COMMON: "Dieses Passwort ist zu leicht zu erraten. Wähle ein anderes.",
    RATE_LIMITED: "Zu viele Versuche. Warte eine Weile, und versuch es dann noch einmal.",
    SIGN_IN_OVER: "Diese Anmeldung hat zu lange gedauert. Beginne noch einmal.",
    SIGN_UP_CLOSED: "Neue Konten sind hier gerade nicht möglich.",
    SUBSCRIPTION_REQUIRED: "Dafür braucht dein Konto einen Tarif.",
    TOTP_REQUIRED: "Gib den Code aus deiner Authenticator-App ein.",
    UNAUTHORIZED: "Melde dich zuerst an.",
    USER_EXISTS: "Mit dieser Adresse gibt es schon ein Konto. Melde dich an, oder wähle ein neues Passwort.",
  },
};

export const german: Translation = {
  texts: {
    "Agents that answer where people are": "Agenten, die da antworten, wo Menschen sind",
    "Ask whoever runs this Berth": "Frag, wer dieses Berth betreibt",
    "At least {{minPasswordLength}} characters": "Mindestens {{minPasswordLength}} Zeichen",
    "Berth is running. It needs you.": "Berth läuft. Jetzt fehlst noch du.",
    "By invitation only": "Nur mit Einladung",
    "Continue with a wallet": "Weiter mit einer Wallet",
    "Continue with {name}": "Weiter mit {name}",
    "Enter one of the recovery codes that you saved when you turned two-factor on. Each works once.":
      "Gib einen der Wiederherstellungscodes ein, die du beim Einschalten der Zwei-Faktor-Anmeldung aufgehoben hast. Jeder gilt einmal.",
    "Enter the six digits that your authenticator app shows.":
      "Gib die sechs Ziffern ein, die deine Authenticator-App zeigt.",
    "I have opened it: try again": "Schon geöffnet: noch einmal versuchen",
    "It works for an hour. If nothing comes, look into the folder for spam.":
      "Er gilt eine Stunde. Wenn nichts kommt, sieh im Spam-Ordner nach.",
    "It works once, for a day. A restart prints a new one.":
      "Er gilt einmal, einen Tag lang. Ein Neustart schreibt einen neuen.",
    "It sends no mails yet. If an account with this address exists, the link to a new password lies in the folder <code>outbox</code> of its data, and works for an hour.":
      "Es verschickt noch keine Mails. Wenn es ein Konto mit dieser Adresse gibt, liegt der Link zum neuen Passwort im Ordner <code>outbox</code> seiner Daten und gilt eine Stunde.",
    "Look into your mailbox": "Sieh in dein Postfach",
    "No new accounts here": "Hier gibt es keine neuen Konten",
    "Nobody has an account here yet. When it started, Berth printed a link that makes you its admin. Open that link, and you are in.":
      "Noch hat niemand ein Konto. Beim Start hat Berth einen Link geschrieben, der dich zum Admin macht. Öffne ihn, und du bist drin.",
    "Not your email address": "Nicht deine E-Mail-Adresse",
    "Or they make a link for you: in the console under Accounts, or by <code>berth user reset-password</code> and your address.":
      "Oder die Person macht dir einen Link: in der Konsole unter „Konten“ oder mit <code>berth user reset-password</code> und deiner Adresse.",
    "Recovery code": "Wiederherstellungscode",
    "The wallet gave no answer. Unlock it, then try again.":
      "Die Wallet hat nicht geantwortet. Entsperre sie, und versuch es noch einmal.",
    "The link made the first account, and no longer works. Sign in with that account, or ask the person who has it.":
      "Der Link hat das erste Konto angelegt und gilt nicht mehr. Melde dich mit diesem Konto an, oder frag die Person, die es hat.",
    "This Berth has its admin": "Dieses Berth hat schon einen Admin",
    "This Berth keeps AI agents running: they answer in Telegram, Discord, WhatsApp and on the web, day and night.":
      "Dieses Berth hält KI-Agenten am Laufen: Sie antworten in Telegram, Discord, WhatsApp und im Web, Tag und Nacht.",
    "This Berth sends no mails yet: the link is kept on its machine. Ask whoever runs it for yours.":
      "Dieses Berth verschickt noch keine Mails: Der Link bleibt auf seinem Rechner. Frag die Person, die es betreibt, nach deinem.",
    "This Berth takes no new accounts. If you should have one, ask the person who runs it: they can make it for you.":
      "Dieses Berth nimmt keine neuen Konten an. Wenn du eins haben solltest, frag die Person, die es betreibt: Sie kann es für dich anlegen.",
    "This link is not whole, or a newer one took its place. Open the last one that was printed.":
      "Dieser Link ist nicht ganz, oder ein neuerer hat ihn ersetzt. Öffne den, der zuletzt geschrieben wurde.",
    "Use a recovery code": "Wiederherstellungscode verwenden",
    "Use the authenticator app": "Authenticator-App verwenden",
    "Where to find it:": "Wo du ihn findest:",
    "Who runs this Berth invites people by mail. If you were invited, open the link in that mail. If not, ask them for one.":
      "Wer dieses Berth betreibt, lädt Menschen per Mail ein. Wenn du eingeladen bist, öffne den Link in der Mail. Wenn nicht, bitte um eine Einladung.",
    "You are invited. The account is made for the address that the invitation was sent to.":
      "Du bist eingeladen. Das Konto entsteht für die Adresse, an die die Einladung ging.",
    'You are signed in as <b id="who"></b>.': 'Du bist angemeldet als <b id="who"></b>.',
    "You did not sign the message. Nothing happened.":
      "Du hast die Nachricht nicht unterschrieben. Es ist nichts passiert.",
    "as a service of the system, by <code>journalctl -u berth</code>":
      "als Dienst des Systems mit <code>journalctl -u berth</code>",
    "in the terminal where you started Berth": "im Terminal, in dem du Berth gestartet hast",
    "with Docker, by <code>docker logs</code> and the container's name":
      "mit Docker durch <code>docker logs</code> und den Namen des Containers",
    "(optional)": "(freiwillig)",
    "API documentation": "API-Dokumentation",
    "Already have one?": "Schon ein Konto?",
    "Back to sign-in": "Zurück zur Anmeldung",
    "Choose a new password": "Neues Passwort wählen",
    Code: "Code",
    "Confirm my address": "Meine Adresse bestätigen",
    "Confirm your email address": "E-Mail-Adresse bestätigen",
    Continue: "Weiter",
    "Create an account": "Konto anlegen",
    "Create the account": "Konto anlegen",
    "Create the admin account": "Admin-Konto anlegen",
    Email: "E-Mail",
    "Enter your email address. A link to choose a new password will be sent to it.":
      "Gib deine E-Mail-Adresse ein. Du bekommst einen Link, mit dem du ein neues Passwort wählst.",
    "First admin": "Erster Admin",
    "Forgot your password?": "Passwort vergessen?",
    Home: "Start",
    "If an account with this address exists, the link is on its way.":
      "Wenn es ein Konto mit dieser Adresse gibt, ist der Link unterwegs.",
    "If you did not create this account, choose a new password: it ends all access of the person who did.":
      "Wenn du dieses Konto nicht angelegt hast, wähle ein neues Passwort: Das beendet jeden Zugang dessen, der es angelegt hat.",
    Name: "Name",
    "New password": "Neues Passwort",
    "One click, so that nobody else can use it.": "Ein Klick, damit niemand sonst sie benutzen kann.",
    "One more step": "Noch ein Schritt",
    "Open the link from your mail: its token is missing here.":
      "Öffne den Link aus deiner Mail: Hier fehlt sein Schlüssel.",
    Password: "Passwort",
    "Referral code": "Empfehlungscode",
    "Request a new link": "Neuen Link anfordern",
    "Send the link": "Link schicken",
    "Set the password": "Passwort setzen",
    "Sign in first": "Melde dich zuerst an",
    "Sign in another way": "Anders anmelden",
    "Sign in to Berth": "Bei Berth anmelden",
    "Sign in to the account with this address, then confirm. Without a sign-in, the confirmation could help a stranger who used your address.":
      "Melde dich bei dem Konto mit dieser Adresse an, und bestätige dann. Ohne Anmeldung könnte die Bestätigung einem Fremden nützen, der deine Adresse benutzt hat.",
    "Thank you. You can close this page, or continue.": "Danke. Du kannst die Seite schließen, oder weitermachen.",
    "That did not work. Try again.": "Das hat nicht geklappt. Versuch es noch einmal.",
    "The link no longer works. Sign in with the new password.":
      "Der Link gilt nicht mehr. Melde dich mit dem neuen Passwort an.",
    "The provider can't be reached right now. Try again in a moment, or sign in another way.":
      "Der Anbieter ist gerade nicht erreichbar. Versuch es gleich noch einmal, oder melde dich anders an.",
    "The provider has no verified email address of yours. Verify one there, or sign in with a password.":
      "Der Anbieter kennt keine bestätigte E-Mail-Adresse von dir. Bestätige dort eine, oder melde dich mit einem Passwort an.",
    "The provider's answer does not prove who you are. Try again.":
      "Die Antwort des Anbieters beweist nicht, wer du bist. Versuch es noch einmal.",
    "This account is disabled. Ask the operator of this service.":
      "Dieses Konto ist gesperrt. Frag den Betreiber dieses Dienstes.",
    "This ends every open session and API key of your account.":
      "Das beendet alle Sitzungen und API-Schlüssel deines Kontos.",
    "This link creates the first admin account. It works once.":
      "Dieser Link legt das erste Admin-Konto an. Er gilt einmal.",
    "This service takes no new accounts, or only invited ones. Ask its operator.":
      "Dieser Dienst nimmt keine neuen Konten an, oder nur eingeladene. Frag seinen Betreiber.",
    "This sign-in took too long, or was started in another browser. Try again.":
      "Diese Anmeldung hat zu lange gedauert, oder begann in einem anderen Browser. Versuch es noch einmal.",
    "Too many attempts from your network. Try again later.":
      "Zu viele Versuche aus deinem Netz. Versuch es später noch einmal.",
    Website: "Website",
    "Welcome to Berth": "Willkommen bei Berth",
    "You did not let the provider tell Berth who you are. Try again, or sign in another way.":
      "Du hast dem Anbieter nicht erlaubt, Berth zu sagen, wer du bist. Versuch es noch einmal, oder melde dich anders an.",
    "Your address is confirmed": "Deine Adresse ist bestätigt",
    "Your new password is set": "Dein neues Passwort ist gesetzt",
    "or with your email address": "oder mit deiner E-Mail-Adresse",
  },
};

/** The label of the button that signs in with a provider. */
export const continueWith = {
  en: (provider: string) => `Continue with ${provider}`,
  de: (provider: string) => `Weiter mit ${provider}`,
};
