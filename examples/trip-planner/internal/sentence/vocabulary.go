package sentence

import (
	"slices"
	"strings"
	"sync"
)

// vocabulary returns the words of everyday requests that name no place, sorted.
var vocabulary = sync.OnceValue(func() []string {
	words := strings.Fields(`
a able about above accommodation across actually adult adults advance after afternoon afternoons again against ago ahead air
airline airlines airport airports all alone along already also altogether always am amazing an and any anybody anyone
anything anyway anywhere apartment apiece approximately are area around arrange arrival arrive arrives arriving as ask asap at
available away baby back bad bag baggage bags be beach beaches beautiful because bed beds been before begin beginning begins behind
being below best better between big birthday bit book booked booking both break breakfast bring bringing budget bus business but
buy by bye cabin call came can can't cannot car care carry celebrate central centre center change cheap cheaper cheapest check child
children choose christmas city class close club cold colleague colleagues come comes comfortable coming company concert conference
connection continue cool cost costs could couldn't country couple cover culture cup day days dear deal deals decent decide
definitely depart departing departs departure desperately destination did dinner direct directly do does doesn't doing don't done
door double down downtown drink drive during each early easily easter easy eat economy either else end ending enjoy enough
especially etc euro euros eve even evening event ever every everybody everyone everything exactly exceed expensive experience
explore exploring family far fast father favorite favourite feel few fifth find fine first fit flat flexible flies flight flights fly
flying fold following food for forget forward found free freezing friday friend friends from fun further game gate get
getaway getting give given go goes going good great group guest guests guide guys had half happy hard has hate have haven't
having he head hello help her here hey hi high him his hold holiday holidays home honeymoon hope hopefully hotel hotels hour hours
house how however husband i i'd i'll i'm i've idea ideas if ignore immediately important in include included including inclusive
infant information inside instead instructions interested interesting international into invite is island islands isn't it it's its
itself job join journey june just keep kid kids kind know land large last late later latest lay leave leaves leaving left less let
let's life like likely limit little live lived living local long look looking lot lots love lovely low luggage luxury made mail main
make makes making many market match matter maximum may maybe me mean means meet meeting meetings mention mid might mind minimum minute
minutes miss modest mom moment money month months more morning most mother mountain mountains move much mum museum museums
music must my myself name near nearby necessary need needed needs never new next night nights no nobody none nonstop noon north not
note nothing november now number nice of off offer offers office often ok okay old on once one online only open opera option options or
order other our ours out outbound outside over overall overnight own package pair parents park part partner party pass passport past
pay paying people per perfect perhaps person persons pick place places plan plane planned planner planning plans play please plenty
plus point pool possible preferably prefer preferred present pretty previous price prices probably problem proper purpose put
question quick quickly quiet quite rather read ready real really reasonable reasonably recommend recover relax relaxed relaxing
remember remote rent request require reservation reserve rest restaurant restaurants return returning returns ride right road room
rooms round roundtrip run safe said same save say school sea seaside seat seats second see seeing seem seen send services set
several shall she shop shopping short should show shown sightseeing simple simply since single sir sister sit situation sleep small
snow so solo some somebody someone something sometime somewhere soon sorry sort south spa speak spend spending sport spot spring
start starting starts station stay staying still stop stops straight street student students stuff style such summer sun sunny
sunshine sure surprise swim system table take takes taking talk tell test than thank thanks that that's the theatre their
them then there there's these they thing things think this those though through ticket tickets till time times tip tired to today
together told tomorrow tonight too top total tour tourist toward towards town train transport travel traveling traveller travellers
travelling travels tried trip trips try trying turn twice type ultimate under unless until up upon us use using usual vacation
very via view visit visiting visits wait walk walking want wanted wants warm was watch water way we we'd we'll we're we've weather
wedding week weekday weekdays weekend weekends weeks welcome well went were west what whatever when where whether which while who
whole why wife will wine winter wish with within without woman wonder wonderful won't work working works world worth would
wouldn't wow write wrong year years yes yesterday yet you you'd you're young your yours yourself
monday tuesday wednesday thursday saturday sunday january february april july august september october december
adults alright anniversary arrange assistant bonus budgeted buddy bye cancel celebrate cheers children classical colleagues
concerts customer dad date dates daughter departed discover dogs drop email exhibition exotic extra festival fiancee finally
fiance flexibility folks fortnight girlfriend boyfriend guests hiking hike skiing ski surf surfing sail sailing dive diving hostel
inbound kindly leg legs luxurious maximal midnight midday ninety nonsmoking organise organize origin pax persons pls plz quid
relative relatives romantic rental seats senior seniors someplace spontaneous stayover stopover stops suggest suggestion suite
suitable tops train transfer tripadvisor urgent urgently vacations view views wanna gonna gotta wonderfully y'all yeah yep
zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
hmm hm um uh er dunno nah huh eh erm whatsoever twenty thirty forty fifty sixty seventy eighty hundred thousand eur usd gbp max min thx hotel's
`)
	slices.Sort(words)
	return slices.Compact(words)
})
