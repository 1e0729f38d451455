// The German of the console, by the English text in its source. A test names what is missing and what is not used.

export const german = {
  /** Each text, grouped by the folder that shows it first. */
  texts: {
    // app and parts
    "This did not work": "Das hat nicht geklappt",
    "Too many requests": "Zu viele Anfragen",
    "This does not exist": "Das gibt es nicht",
    "This is not yours to see": "Das ist nicht für dich",
    "Your plan does not include this": "Dein Tarif enthält das nicht",
    "No connection": "Keine Verbindung",
    "Load again": "Neu laden",
    "Nothing that you saved is lost. Load the page again; if the fault stays, tell the operator what you did.":
      "Nichts Gespeichertes ist verloren. Lade die Seite neu; wenn der Fehler bleibt, sag dem Betreiber, was du getan hast.",
    "This page has a fault": "Diese Seite hat einen Fehler",
    Admin: "Admin",
    "Go to, or do…": "Gehe zu, oder tu …",
    "Your agents": "Deine Agenten",
    "Check the address, or go on from the list of your agents.":
      "Prüfe die Adresse, oder geh von der Liste deiner Agenten aus weiter.",
    "There is no such page": "Diese Seite gibt es nicht",
    "The connection to Berth is lost. This page catches up when it is back; nothing is lost.":
      "Die Verbindung zu Berth ist weg. Sobald sie wieder da ist, holt diese Seite alles nach; nichts ist verloren.",
    "This server": "Dieser Server",
    Pages: "Seiten",
    Navigation: "Navigation",
    "Open the menu": "Menü öffnen",
    "Close the menu": "Menü schließen",
    "Skip to the page": "Zur Seite springen",
    "Sign out": "Abmelden",
    Language: "Sprache",
    Theme: "Aussehen",
    Account: "Konto",
    Dark: "Dunkel",
    Light: "Hell",
    "As the system": "Wie das System",
    "The server answered with an error.": "Der Server hat mit einem Fehler geantwortet.",
    "Berth can't be reached. Check your connection; nothing that was sent is lost.":
      "Berth ist nicht erreichbar. Prüfe deine Verbindung; nichts Gesendetes ist verloren.",
    "This browser does not let the page copy. Select the text and copy it yourself.":
      "Dieser Browser lässt die Seite nicht kopieren. Markiere den Text und kopiere ihn selbst.",
    Copied: "Kopiert",
    Copy: "Kopieren",
    "Loading…": "Lädt …",
    "Sort by {column}": "Nach {column} ordnen",
    "For the operator: request {id}": "Für den Betreiber: Anfrage {id}",
    "Go to your agents": "Zu deinen Agenten",
    "See your plan and budgets": "Sieh dir deinen Tarif und deine Budgets an",
    "Something in this page failed. Load it again.": "Auf dieser Seite ist etwas fehlgeschlagen. Lade sie neu.",
    "Try again": "Noch einmal versuchen",
    "Try again in {seconds} s": "In {seconds} s noch einmal",
    "Picture: {name}": "Bild: {name}",
    Table: "Tabelle",
    "Code in {language}": "Code in {language}",
    Code: "Code",
    "The numbers": "Die Zahlen",
    Time: "Zeit",
    Close: "Schließen",
    Messages: "Meldungen",
    Undo: "Rückgängig",
    "An agent answers in a browser, in Telegram, Discord and WhatsApp.":
      "Ein Agent antwortet im Browser, in Telegram, Discord und WhatsApp.",
    "No agent yet": "Noch kein Agent",
    "{n} agents": "{n} Agenten",
    "{n} agent": "{n} Agent",
    Agents: "Agenten",
    "Nothing has this name. Try fewer letters.": "Nichts heißt so. Versuch es mit weniger Buchstaben.",
    Found: "Gefunden",
    "Page, agent or action": "Seite, Agent oder Aktion",
    "Go to, or do": "Gehe zu, oder tu",
    Agent: "Agent",
    Action: "Aktion",
    Page: "Seite",
    "API documentation": "API-Dokumentation",
    "Theme as the system": "Aussehen wie das System",
    "Dark theme": "Dunkles Aussehen",
    "Light theme": "Helles Aussehen",
    "Pages of this agent": "Seiten dieses Agenten",
    Overview: "Übersicht",
    "The whole API": "Die ganze API",
    "Use the page; its requests appear here.": "Benutze die Seite; ihre Anfragen erscheinen hier.",
    "No request yet": "Noch keine Anfrage",
    "Language of the code": "Sprache des Codes",
    "What this page asked of the API, newest first. Make an API key under Account and put it into BERTH_KEY.":
      "Was diese Seite von der API wollte, das Neueste zuerst. Erstelle unter „Konto“ einen API-Schlüssel und lege ihn in BERTH_KEY ab.",
    "This page as code": "Diese Seite als Code",
    // an agent's channels
    Channels: "Kanäle",
    "People write to your agent where they already are. It answers as a bot of its own on each platform.":
      "Menschen schreiben deinem Agenten dort, wo sie schon sind. Auf jeder Plattform antwortet er als eigener Bot.",
    "All channels": "Alle Kanäle",
    "About 2 minutes": "Etwa 2 Minuten",
    "The easiest to start with: you need only the Telegram app.":
      "Am einfachsten für den Anfang: Du brauchst nur die Telegram-App.",
    "About 5 minutes": "Etwa 5 Minuten",
    "Your agent joins your server, answers when it is mentioned, and takes direct messages.":
      "Dein Agent kommt auf deinen Server, antwortet, wenn er erwähnt wird, und nimmt Direktnachrichten an.",
    "About 30 minutes": "Etwa 30 Minuten",
    "For businesses: needs an account of Meta's WhatsApp platform and a phone number of its own.":
      "Für Unternehmen: braucht ein Konto auf Metas WhatsApp-Plattform und eine eigene Telefonnummer.",
    "Your agent can answer here, too.": "Auch hier kann dein Agent antworten.",
    "People and settings": "Leute und Einstellungen",
    "Connect {platform}": "{platform} verbinden",
    "Connect {bot}": "{bot} verbinden",
    "You need no server and no programming.": "Du brauchst keinen Server und musst nichts programmieren.",
    "{platform} sends messages only to public https addresses, and this Berth has none. Ask its operator to set BASE_URL; until then this bot can't hear anybody.":
      "{platform} schickt Nachrichten nur an öffentliche https-Adressen, und dieses Berth hat keine. Bitte den Betreiber, BASE_URL zu setzen; bis dahin hört dieser Bot niemanden.",
    "A new token": "Ein neues Token",
    "Use another token": "Ein anderes Token verwenden",
    "Since <time>now</time>": "Seit: <time>jetzt</time>",
    "Answers in {platform}": "Antwortet in {platform}",
    "Connecting to {platform} …": "Verbindet sich mit {platform} …",
    "Rests, because the agent is stopped": "Ruht, weil der Agent angehalten ist",
    "Start the agent, and its bots answer again. Messages wait until then.":
      "Starte den Agenten, dann antworten seine Bots wieder. Nachrichten warten so lange.",
    "{platform} does not accept this bot any more": "{platform} nimmt diesen Bot nicht mehr an",
    "Connect it again with a new token.": "Verbinde ihn mit einem neuen Token noch einmal.",
    "Waits for {platform}": "Wartet auf {platform}",
    "Another program uses this bot": "Ein anderes Programm benutzt diesen Bot",
    "Only one program can receive a bot's messages. Stop the other one, or give this agent a bot of its own.":
      "Nur ein Programm kann die Nachrichten eines Bots empfangen. Beende das andere, oder gib diesem Agenten einen eigenen Bot.",
    "{platform} asked to wait a little. This goes on by itself.":
      "{platform} hat um etwas Geduld gebeten. Es geht von selbst weiter.",
    "It can't be reached right now. This goes on by itself.": "Gerade nicht erreichbar. Es geht von selbst weiter.",
    "Next try in {seconds} s": "Nächster Versuch in {seconds} s",
    "Trying again …": "Neuer Versuch …",
    "Try now": "Jetzt versuchen",
    "{platform} is disconnected": "{platform} ist getrennt",
    Disconnect: "Trennen",
    "Copy {words}": "{words} kopieren",
    "Open <a>BotFather</a>. That is Telegram's own helper for making bots.":
      "Öffne <a>BotFather</a>. Das ist Telegrams eigener Helfer zum Anlegen von Bots.",
    "Write <w>/newbot</w> to it. It asks for a name, and for a user name that ends in “bot”: you may choose both.":
      "Schreib ihm <w>/newbot</w>. Er fragt nach einem Namen und nach einem Benutzernamen, der auf „bot“ endet: Beides darfst du dir aussuchen.",
    "It answers with a long token. Copy it, and paste it below.":
      "Er antwortet mit einem langen Token. Kopiere es und füge es unten ein.",
    "Open Discord's <a>developer page</a>, press <b>New Application</b> and give your bot a name.":
      "Öffne Discords <a>Seite für Entwickler</a>, drück <b>New Application</b> und gib deinem Bot einen Namen.",
    "Choose <b>Bot</b> at the left, press <b>Reset Token</b> and confirm. Copy the token, and paste it below.":
      "Wähle links <b>Bot</b>, drück <b>Reset Token</b> und bestätige. Kopiere das Token und füge es unten ein.",
    "Only if your agent is to read every message of a channel: switch on <b>Message Content Intent</b> on the same page. It hears mentions, answers and direct messages without that.":
      "Nur wenn dein Agent jede Nachricht eines Kanals lesen soll: Schalte auf derselben Seite <b>Message Content Intent</b> ein. Erwähnungen, Antworten und Direktnachrichten hört er auch ohne das.",
    "Make an app on <a>Meta's developer page</a>, add the product <b>WhatsApp</b>, and register a phone number there.":
      "Lege auf <a>Metas Seite für Entwickler</a> eine App an, füge das Produkt <b>WhatsApp</b> hinzu und melde dort eine Telefonnummer an.",
    "In the <a>business settings</a>, under <b>Users → System users</b>, add a system user. Assign it the app, and one WhatsApp account with full control.":
      "Füge in den <a>Unternehmenseinstellungen</a> unter <b>Nutzer → Systemnutzer</b> einen Systemnutzer hinzu. Weise ihm die App und ein WhatsApp-Konto mit voller Kontrolle zu.",
    "Press <b>Generate token</b> for that app, without an end, with <w>whatsapp_business_messaging</w> and <w>whatsapp_business_management</w>.":
      "Drück für diese App <b>Token generieren</b>, ohne Ablauf, mit <w>whatsapp_business_messaging</w> und <w>whatsapp_business_management</w>.",
    "In the app, under <b>WhatsApp → Configuration</b>, subscribe to <b>messages</b>. Then paste the token below.":
      "Abonniere in der App unter <b>WhatsApp → Konfiguration</b> das Feld <b>messages</b>. Füge dann das Token unten ein.",
    "A number. In Telegram, @userinfobot tells everybody theirs.":
      "Eine Zahl. In Telegram sagt @userinfobot jedem die eigene.",
    "A long number. In Discord: Settings, Advanced, Developer Mode; then right-click a person, Copy User ID.":
      "Eine lange Zahl. In Discord: Einstellungen, Erweitert, Entwicklermodus; dann eine Person rechts anklicken, Nutzer-ID kopieren.",
    "The phone number with its country code.": "Die Telefonnummer mit Ländervorwahl.",
    "A token has no spaces. Copy only the token itself.":
      "Ein Token hat keine Leerzeichen. Kopiere nur das Token selbst.",
    "This does not begin like a token of {platform}. Copy the whole token, from its first character.":
      "So beginnt kein Token von {platform}. Kopiere das ganze Token, vom ersten Zeichen an.",
    "There are characters in this that no token has. Copy it once more.":
      "Darin sind Zeichen, die kein Token hat. Kopiere es noch einmal.",
    "This is not the whole token yet.": "Das ist noch nicht das ganze Token.",
    "This is an id, not the token. The token is much longer.":
      "Das ist eine ID, nicht das Token. Das Token ist viel länger.",
    "This is the public key. The token is on the page Bot, under Reset Token.":
      "Das ist der öffentliche Schlüssel. Das Token steht auf der Seite „Bot“ unter „Reset Token“.",
    "This is the client secret. The token is on the page Bot, under Reset Token.":
      "Das ist das Client Secret. Das Token steht auf der Seite „Bot“ unter „Reset Token“.",
    "Token of the bot": "Token des Bots",
    "It is kept encrypted and never shown again. It gives power over the bot, so give it to nobody else.":
      "Es wird verschlüsselt aufbewahrt und nie wieder gezeigt. Wer es hat, beherrscht den Bot; gib es also niemandem sonst.",
    "Asking {platform} …": "Frage {platform} …",
    "{platform} knows it": "{platform} kennt ihn",
    "This bot already serves an agent of somebody else here. Use another bot.":
      "Dieser Bot gehört hier schon zum Agenten von jemand anderem. Nimm einen anderen Bot.",
    "This bot already serves your agent <a>{name}</a>. Disconnect it there first, or make another bot.":
      "Dieser Bot gehört schon zu deinem Agenten <a>{name}</a>. Trenne ihn erst dort, oder lege einen anderen Bot an.",
    "Last step: say hello": "Letzter Schritt: Sag Hallo",
    "So your agent knows who it belongs to.": "Damit dein Agent weiß, zu wem er gehört.",
    "The address of the bot, for your phone": "Die Adresse des Bots, für dein Handy",
    "Open {bot} in {platform}": "{bot} in {platform} öffnen",
    "Add {bot} to your server": "{bot} auf deinen Server holen",
    "Copy the code": "Code kopieren",
    "This page notices when you are there": "Diese Seite merkt, wenn du dort bist",
    "The code works once, for a quarter of an hour. Who uses it becomes the owner, so don't pass it on.":
      "Der Code gilt einmal und eine Viertelstunde lang. Wer ihn benutzt, wird Besitzer; gib ihn also nicht weiter.",
    "Add the bot to your server, then open its profile there and send it this code as a <b>direct message</b>:":
      "Hol den Bot auf deinen Server, öffne dort sein Profil und schick ihm diesen Code als <b>Direktnachricht</b>:",
    "Scan this with your phone, or press the button. In {platform}, press <b>Start</b> or <b>Send</b>. That is all.":
      "Scanne das mit dem Handy, oder drück den Knopf. Drück dann in {platform} <b>Start</b> oder <b>Senden</b>. Das ist alles.",
    "Write this code to the bot in a <b>private chat</b>:":
      "Schreib dem Bot diesen Code in einem <b>privaten Chat</b>:",
    "Write to it now": "Schreib ihm jetzt",
    "Add it to a server": "Auf einen Server holen",
    "Anybody can have this address. Who gets an answer is decided below.":
      "Diese Adresse darf jeder haben. Wer eine Antwort bekommt, entscheidest du unten.",
    "Only owners": "Nur Besitzer",
    "Others get no answer at all.": "Andere bekommen gar keine Antwort.",
    "Owners, and people I let in": "Besitzer, und wen ich hereinlasse",
    "Strangers get a code once; they appear above, and you decide.":
      "Fremde bekommen einmal einen Code; sie erscheinen oben, und du entscheidest.",
    "Owners, and people on my list": "Besitzer, und wer auf meiner Liste steht",
    "You add them by their ids.": "Du trägst sie mit ihren IDs ein.",
    Everybody: "Alle",
    "Everybody who finds the bot spends your budget. Set one first, under Set-up.":
      "Wer den Bot findet, verbraucht dein Budget. Setze zuerst eines, unter „Einrichtung“.",
    "When it is mentioned or answered": "Wenn er erwähnt wird oder man ihm antwortet",
    "To every message it can read": "Auf jede Nachricht, die er lesen kann",
    Never: "Nie",
    Saved: "Gespeichert",
    "Who gets an answer": "Wer eine Antwort bekommt",
    "In groups it answers": "In Gruppen antwortet er",
    "Also turn off the bot's privacy: write /setprivacy to BotFather, then add the bot to the group again.":
      "Schalte auch den Privatmodus des Bots ab: Schreib BotFather /setprivacy, dann hol den Bot neu in die Gruppe.",
    People: "Leute",
    "People who ask": "Wer anfragt",
    "asks to talk": "möchte mit ihm reden",
    "id {id}": "ID {id}",
    "code {code}": "Code {code}",
    "Let them talk": "Hereinlassen",
    "This is me": "Das bin ich",
    Refuse: "Ablehnen",
    Somebody: "Jemand",
    "Let them talk after all": "Doch hereinlassen",
    "Remove {name}": "{name} entfernen",
    "Show {n} more person": "{n} weitere Person zeigen",
    "Show {n} more people": "{n} weitere Leute zeigen",
    Owner: "Besitzer",
    Refused: "Abgelehnt",
    "May talk": "Darf reden",
    "Everybody gets an answer, and spends your budget.": "Alle bekommen eine Antwort und verbrauchen dein Budget.",
    "Only owners get an answer. Others get none.": "Nur Besitzer bekommen eine Antwort, andere keine.",
    "Owners and the people listed here get an answer. Others get none.":
      "Besitzer und die Leute auf dieser Liste bekommen eine Antwort, andere keine.",
    "Owners and people you let in get an answer. Strangers get a code, and appear here.":
      "Besitzer und wen du hereinlässt bekommen eine Antwort. Fremde bekommen einen Code und erscheinen hier.",
    "{name} is removed": "{name} ist entfernt",
    "{name} is refused": "{name} ist abgelehnt",
    "The agent obeys {name} now": "Der Agent gehorcht jetzt {name}",
    "{name} can talk to your agent now": "{name} kann jetzt mit deinem Agenten reden",
    "The agent obeys you now": "Der Agent gehorcht dir jetzt",
    "They can talk to your agent now": "Die Person kann jetzt mit deinem Agenten reden",
    "Add somebody by a code or an id": "Jemanden mit Code oder ID eintragen",
    "Code or id": "Code oder ID",
    "The code is six letters and digits, which the bot sent them.":
      "Der Code besteht aus sechs Buchstaben und Ziffern, die der Bot geschickt hat.",
    "You become the owner: the agent obeys you, and you decide about its tools in the chat.":
      "Du wirst Besitzer: Der Agent gehorcht dir, und du entscheidest im Chat über seine Werkzeuge.",
    Add: "Eintragen",
    // an agent's public page
    "Public page": "Öffentliche Seite",
    "What visitors see": "Was Besucher sehen",
    Asleep: "Schläft",
    Online: "Online",
    "Write a message": "Nachricht schreiben",
    Send: "Senden",
    "An AI agent. It does not talk to visitors here.": "Ein KI-Agent. Hier spricht er nicht mit Besuchern.",
    "{site} is removed": "{site} ist entfernt",
    "On your own site": "Auf deiner eigenen Website",
    "Show the chat inside a page of yours. Only the sites that you name here can do that.":
      "Zeig den Chat in einer deiner Seiten. Das können nur die Websites, die du hier nennst.",
    "Address of a site": "Adresse einer Website",
    "Allow this site": "Website erlauben",
    "Put this into the HTML of your page, where the chat is to appear:":
      "Setz das in das HTML deiner Seite, wo der Chat erscheinen soll:",
    "Code to embed the page": "Code zum Einbetten der Seite",
    "It shows the chat as soon as visitors may talk to it.":
      "Sie zeigt den Chat, sobald Besucher mit ihm reden dürfen.",
    "Sites that may show the page": "Websites, die die Seite zeigen dürfen",
    "Give the address of a site with https, without a path: https://www.example.com":
      "Gib die Adresse einer Website mit https an, ohne Pfad: https://www.example.com",
    "The greeting is saved": "Die Begrüßung ist gespeichert",
    Greeting: "Begrüßung",
    "The first thing visitors read": "Das Erste, was Besucher lesen",
    "Hello! Ask me about our opening hours.": "Hallo! Frag mich nach unseren Öffnungszeiten.",
    "{n} of {max} characters. Say what it can help with; the preview shows it.":
      "{n} von {max} Zeichen. Sag, wobei er helfen kann; die Vorschau zeigt es.",
    "Save the greeting": "Begrüßung speichern",
    Discard: "Verwerfen",
    "Everybody can talk to it now": "Jetzt können alle mit ihm reden",
    "The page is closed": "Die Seite ist geschlossen",
    "A page on the web where everybody can talk to your agent, without an account.":
      "Eine Seite im Web, auf der alle mit deinem Agenten reden können, ohne Konto.",
    "Visitors may talk to it": "Besucher dürfen mit ihm reden",
    "The address of the page, for a phone": "Die Adresse der Seite, für ein Handy",
    "Open the page": "Seite öffnen",
    "Copy the address": "Adresse kopieren",
    "Each visitor has a conversation of their own. Nobody sees yours, or what your agent knows about you.":
      "Jeder Besucher hat sein eigenes Gespräch. Niemand sieht deine, und niemand sieht, was dein Agent über dich weiß.",
    "Now the page shows only the name of your agent and how it is, and nobody can write to it there.":
      "Jetzt zeigt die Seite nur, wie dein Agent heißt und wie es ihm geht; schreiben kann ihm dort niemand.",
    "Visitors spend your budget. <a>Set a daily limit</a>, so that it stays small.":
      "Besucher verbrauchen dein Budget. <a>Setz eine Grenze für den Tag</a>, damit es wenig bleibt.",
    // an agent's gateway
    Gateway: "Gateway",
    "For programs that talk to your agent all the time: one connection, over which replies arrive word by word.":
      "Für Programme, die ständig mit deinem Agenten reden: eine Verbindung, über die Antworten Wort für Wort ankommen.",
    Token: "Token",
    "With it a program talks to this agent as you do, and reads its log. It opens nothing else.":
      "Damit redet ein Programm mit diesem Agenten wie du und liest sein Protokoll. Sonst öffnet es nichts.",
    "Token of the gateway": "Token des Gateways",
    "Replace the token": "Token ersetzen",
    "Replace the token?": "Token ersetzen?",
    "Programs that use the old token are disconnected at once, and need the new one. The old one can't be brought back.":
      "Programme mit dem alten Token werden sofort getrennt und brauchen das neue. Das alte lässt sich nicht zurückholen.",
    "The token is replaced. Programs with the old one are cut off.":
      "Das Token ist ersetzt. Programme mit dem alten sind getrennt.",
    "Keep it": "Behalten",
    "Replace it": "Ersetzen",
    "Try it": "Probier es aus",
    "This connects with your session, and shows each message as programs see it.":
      "Das verbindet sich mit deiner Sitzung und zeigt jede Nachricht so, wie Programme sie sehen.",
    "The connection is gone. Connect again.": "Die Verbindung ist weg. Verbinde dich noch einmal.",
    "Empty the list": "Liste leeren",
    Connect: "Verbinden",
    "Messages of the connection": "Nachrichten der Verbindung",
    "Connect, then send a message: what comes back appears here.":
      "Verbinde dich und schick eine Nachricht: Was zurückkommt, erscheint hier.",
    sent: "gesendet",
    received: "empfangen",
    "Message to the agent": "Nachricht an den Agenten",
    Ping: "Ping",
    Connected: "Verbunden",
    "Connecting …": "Verbindet sich …",
    "Not connected": "Nicht verbunden",
    "Refused: your session has ended, or the agent is gone":
      "Abgelehnt: Deine Sitzung ist zu Ende, oder den Agenten gibt es nicht mehr",
    "Too many messages or connections. Wait a little, then connect again.":
      "Zu viele Nachrichten oder Verbindungen. Warte ein wenig, dann verbinde dich noch einmal.",
    "Berth is restarting. Connect again in a moment.": "Berth startet gerade neu. Verbinde dich gleich noch einmal.",
    "The connection was lost (code {code}). Connect again.":
      "Die Verbindung ist abgerissen (Code {code}). Verbinde dich noch einmal.",
    hidden: "verborgen",
    "Show {words}": "{words} zeigen",
    Show: "Zeigen",
    "Hide {words}": "{words} verbergen",
    Hide: "Verbergen",
    // an agent's live stream
    "Live stream": "Livestream",
    "No live stream yet": "Noch kein Livestream",
    "Make a live stream": "Livestream anlegen",
    "Send video from OBS or another program, and everybody with the address can watch it in a browser. Nothing else is needed: Berth receives the video and shows it.":
      "Sende Video aus OBS oder einem anderen Programm, und alle mit der Adresse können es im Browser sehen. Mehr braucht es nicht: Berth empfängt das Video und zeigt es.",
    "Live streams are switched off here": "Livestreams sind hier ausgeschaltet",
    "The operator of this Berth has switched them off (STREAM_DRIVER).":
      "Der Betreiber dieses Berth hat sie ausgeschaltet (STREAM_DRIVER).",
    "What viewers see": "Was Zuschauer sehen",
    "The live stream is removed": "Der Livestream ist entfernt",
    "Address for viewers": "Adresse für Zuschauer",
    "Open the player": "Player öffnen",
    "Everybody who knows the address can watch. It begins by itself when the stream is on the air.":
      "Wer die Adresse kennt, kann zusehen. Es beginnt von selbst, sobald der Stream auf Sendung ist.",
    Remove: "Entfernen",
    "The addresses and the key stop working. You can make another stream later.":
      "Die Adressen und der Schlüssel gelten dann nicht mehr. Du kannst später einen neuen Stream anlegen.",
    "Remove the live stream": "Livestream entfernen",
    "Video can't be received right now": "Gerade kann kein Video empfangen werden",
    "Off the air": "Nicht auf Sendung",
    "On the air since <time>now</time>": "Auf Sendung seit: <time>jetzt</time>",
    "Send video": "Video senden",
    "With OBS, which is free, or any other program that speaks RTMP.":
      "Mit OBS, das nichts kostet, oder jedem anderen Programm, das RTMP spricht.",
    Server: "Server",
    "Copy the server": "Server kopieren",
    "Stream key": "Streamschlüssel",
    "In OBS, open <b>Settings → Stream</b> and choose <b>Custom</b> as the service.":
      "Öffne in OBS <b>Einstellungen → Stream</b> und wähle als Plattform <b>Benutzerdefiniert</b>.",
    "Copy the server and the key from here into the two fields.":
      "Kopiere Server und Schlüssel von hier in die beiden Felder.",
    "Under <b>Output</b>, choose H.264 and AAC, at most 8 Mbit/s, and a keyframe every 2 seconds.":
      "Wähle unter <b>Ausgabe</b> H.264 und AAC, höchstens 8 Mbit/s, und alle 2 Sekunden ein Keyframe.",
    "Press <b>Start Streaming</b>. The picture appears above after some seconds.":
      "Drück <b>Stream starten</b>. Das Bild erscheint nach einigen Sekunden oben.",
    "Replace the key": "Schlüssel ersetzen",
    "Replace the key?": "Schlüssel ersetzen?",
    "Who sends video now is disconnected, and needs the new key. The address for viewers stays.":
      "Wer gerade Video sendet, wird getrennt und braucht den neuen Schlüssel. Die Adresse für Zuschauer bleibt.",
    "The key is replaced. Enter the new one in your program.":
      "Der Schlüssel ist ersetzt. Trag den neuen in dein Programm ein.",
  },
  /** Instead of the API's English text of an error, by its code. */
  errors: {
    CHANNEL_IN_USE: "Dieser Bot gehört schon zu einem anderen Agenten. Trenne ihn dort, oder nimm einen anderen Bot.",
    CHANNEL_UNREACHABLE: "Die Plattform antwortet gerade nicht; geändert wurde nichts. Versuch es gleich noch einmal.",
    CHANNEL_NOT_CONNECTED: "Der Agent ist dort nicht mehr verbunden. Lade die Seite neu.",
    CHANNEL_FAILED: "Die Plattform hat diesen Bot endgültig abgelehnt. Verbinde ihn mit einem neuen Token.",
    CHANNEL_BUSY: "Die Plattform hat um Geduld gebeten. Es geht von selbst weiter.",
    PAIRING_NOT_FOUND:
      "Diesen Code gibt es nicht, oder er ist älter als eine Stunde. Bitte die Person, noch einmal zu schreiben.",
    TOO_MANY_PEOPLE: "Auf der Liste sind schon 1000 Leute. Entferne einige, oder lass alle herein.",
    STREAMS_OFF: "Der Betreiber dieses Berth hat Livestreams ausgeschaltet.",
  },
} satisfies { texts: Record<string, string>; errors: Record<string, string> };
