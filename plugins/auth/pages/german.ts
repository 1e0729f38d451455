// The German texts of the account pages.
import type { Translation } from "../../../src/kernel/pages/page-template.ts";

/** The texts of the layout, and of errors that these pages meet; for the pages of every plugin. */
export const germanLayout: Translation = {
  texts: {
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
    "(optional)": "(freiwillig)",
    "API documentation": "API-Dokumentation",
    "Agents are hosted here. Sign in to manage yours.": "Hier wohnen Agenten. Melde dich an, um deine zu verwalten.",
    "Already have one?": "Schon ein Konto?",
    "At least 8 characters.": "Mindestens 8 Zeichen.",
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
    "From your authenticator app, or one of your recovery codes.":
      "Aus deiner Authenticator-App, oder einer deiner Wiederherstellungscodes.",
    Home: "Start",
    "If an account with this address exists, the link is on its way.":
      "Wenn es ein Konto mit dieser Adresse gibt, ist der Link unterwegs.",
    "If you did not create this account, choose a new password: it ends all access of the person who did.":
      "Wenn du dieses Konto nicht angelegt hast, wähle ein neues Passwort: Das beendet jeden Zugang dessen, der es angelegt hat.",
    "Manage your agents through the API": "Agenten über die API verwalten",
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
    "Sign out": "Abmelden",
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
    "You are signed in": "Du bist angemeldet",
    "You did not let the provider tell Berth who you are. Try again, or sign in another way.":
      "Du hast dem Anbieter nicht erlaubt, Berth zu sagen, wer du bist. Versuch es noch einmal, oder melde dich anders an.",
    "Your account asks for a second factor.": "Dein Konto verlangt einen zweiten Faktor.",
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
