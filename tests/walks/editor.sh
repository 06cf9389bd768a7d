#!/usr/bin/env bash
# An editor signs in with a browser, looks after the profile, makes a password for a program, and signs out. The pages work
# without scripts, so curl is browser enough; tests/browser.rs looks at them with a real one.
# shellcheck source=tests/walks/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$folder"
cp -r "$root/routes.toml" "$root/schemas" "$root/fixtures" .
echo 'what emma knows' | cms-server --config routes.toml user add emma emma@example.org --role editor --password-stdin
start --set site.demo=false

# browse ADDRESS [CURL ARGUMENTS]: the page, through redirections as a browser goes.
browse() { curl -L -b jar -c jar -H 'Accept: text/html' "$@"; }
# The value of a hidden field of a page.
hidden() { grep -o "name=\"$2\" value=\"[^\"]*\"" <<<"$1" | head -1 | sed 's/.*value="//; s/"$//'; }
# The name of the field with this id.
field() { grep -o "id=\"$2\"[^>]*name=\"[^\"]*\"" <<<"$1" | head -1 | sed 's/.*name="//; s/"$//'; }

step "the site's own address leads to the login"
home=$(browse "$site/")
contains "$home" 'href="'
login=$(browse "$site/login")
user=$(field "$login" login) password=$(field "$login" password)

step "a wrong password is told, without saying which part is wrong"
wrong=$(browse "$site/login" --data-urlencode "$user=emma" --data-urlencode "$password=guess")
contains "$wrong" 'role="alert"'
nobody=$(browse "$site/login" --data-urlencode "$user=nobody" --data-urlencode "$password=guess")
is "$(grep -o 'role="alert">[^<]*' <<<"$wrong")" "$(grep -o 'role="alert">[^<]*' <<<"$nobody")"

step "sign in"
entered=$(browse "$site/login" --data-urlencode "$user=emma" --data-urlencode "$password=what emma knows")
contains "$entered" '<base href="/admin/">'
profile=$(browse "$site/profile")
contains "$profile" 'Your profile'
token=$(hidden "$profile" token)

step "change the name as shown"
saved=$(browse "$site/profile" --data-urlencode "token=$token" -d act=save --data-urlencode 'name=Emma Ås' -d email=emma@example.org)
contains "$saved" 'value="Emma Ås"'

step "a password for a program: it works, and no more once it is revoked"
made=$(browse "$site/profile" --data-urlencode "token=$token" -d act=create --data-urlencode 'name=phone' -d days=30)
secret=$(grep -o 'id="secret" class="code" value="[^"]*"' <<<"$made" | sed 's/.*value="//; s/"$//')
contains "$(curl -u "emma:$secret" "$site/cms-json/cms/v2/users/me")" 'Emma Ås'
made=$(curl -u "emma:$secret" "$site/cms-json/cms/v2/posts" -H 'Content-Type: application/json' -d '{"title": "From the phone", "status": "publish"}')
contains "$made" '"status":"publish"'
contains "$(curl "$site/cms-json/cms/v2/posts?_embed=author&_fields=_links,_embedded")" 'Emma Ås'
refused grep -qF "$secret" <<<"$(browse "$site/profile")"
uuid=$(hidden "$(browse "$site/profile")" uuid)
browse "$site/profile" --data-urlencode "token=$token" -d act=revoke -d "uuid=$uuid" >page
contains "$(curl -u "emma:$secret" "$site/cms-json/cms/v2/users/me")" 401

step "a new password for the account"
weak=$(browse "$site/profile" --data-urlencode "token=$token" -d act=password --data-urlencode 'current=what emma knows' -d new=short)
contains "$weak" 'role="alert"'
browse "$site/profile" --data-urlencode "token=$token" -d act=password --data-urlencode 'current=what emma knows' \
  --data-urlencode 'new=what emma will know' >page
rm jar
contains "$(browse "$site/login" --data-urlencode "$user=emma" --data-urlencode "$password=what emma knows")" 'role="alert"'
browse "$site/login" --data-urlencode "$user=emma@example.org" --data-urlencode "$password=what emma will know" >page
contains "$(browse "$site/profile")" 'this one'

step "sign out"
out=$(browse "$site/logout")
token=$(hidden "$out" token)
browse "$site/logout" --data-urlencode "token=$token" >page
contains "$(browse "$site/profile")" 'Log in'
