"""Common English words that are also names of functions, libraries or persons."""

from __future__ import annotations

COMMON = frozenset(
    """able access account action active actor add address admin after agent air align all alpha amount analysis answer
    any api app apply april archive area array art ask assert asset assign async atom audio audit august auth auto
    await back background balance bar base basic batch beam bean bear beat bill bind bit black blade blend block
    blocks blog bloom blue board bob body bolt book boost boot bottle bottom box boxes brain branch break bridge
    bright broken browser buffer bug build builder bundle burn bus button buy bytes cache calendar call camera
    cancel capture car card care case cast catalog catch celery center chain chalk change channel chaos charge charm
    chart chase chat check chip choose chunk circle claim class clean clear cli click client clip clock clone close
    cloud cluster code collect color column come command commit common community company compare compile complete
    component compute concept config connect console constant contact contain content context control convert cookie
    copy core cost count counter cover crash create cross crystal cup current curve cut cycle daily dash data
    database date day debug deck decode deep default delay delete delta deploy design detail diff different digest
    dispatch display distance do docs document dog done door dot down download draft draw dream drive drop dump dust
    earth easy echo edge edit effect element ember emit empty enable encode end engine enter entry equal error event
    every example exec execute exit expand export express extend extract face fact faith fast feature feed fetch
    field fields file fill filter final find fire first fit fix flag flame flash flask flat flow fluent fly fold
    follow font forest fork form format frame frank free fresh friend from full function future game gate gather
    general generate get gin give global go goal good grab grace grade grant graph grid group grow guard guide hand
    handle handler happy hash head heart help here hide history hit hold home hook hooks hope host hour house human
    hunter icon id idea image import in index info init input insert inside inspect install invoke island issue item
    jack job join joy jump june keep key kind know koa label lake land language last later layer layout lead leaf
    learn left length less level library life light limit line lines link list listen live load local lock log login
    long look loop lunch machine magic mail main make manage map march mark mask master match math matrix max may me
    mean measure media meet member memory menu merge mesh message method migrate min mint mix mocha mode model
    module moment money monitor month more motion mount mouse move movie music name nest net network new news next
    night node noise normal note notes notice now null number object observe offer office on one open option order
    other outcome output over own pack package page paint pair panel paper parse part party pass paste pat patch
    path pattern pause pay peer people perform phase phone photo picture piece pierce pin ping pipe pixel place
    plain plan plane platform play please plot plug plus point policy poll pool pop port position post power prefix
    prepare present press pretty preview price print private problem process product profile program progress
    project promise prompt proof property proxy public pull pulse purge push put quality query question queue quick
    quiet quit race radio rain raise random range rate reach react read ready real reason rebuild receive record red
    reduce refresh register relay release reload remote remove rename render repeat replace reply report request
    requests require reset resolve resource rest result resume return review rich right ring river rob rock role
    roll room root rope rose round route router row rule run safe sample save scale scan scene schedule schema
    school scope score scrape screen script scroll seal search season second secret section secure see select self
    send sense sequence serve server service session set setting settings setup shape share sharp sheet shell ship
    shop short show shrink shutdown side sign signal silver simple site size skip slate sleep slice slide slim slow
    small smart snow solid solve some song sort sound source space spark spec speed spin split sport spread spring
    stack stage standard star start state static status stay step stone stop storage store story stream street
    string strip strong structure style submit success summary summer sun support surf swap sweet swift switch
    symbol sync system table tag take talk target task team tell template terminal test text theme thing think
    thread tick ticket tide time title to toast today token tool top total touch tower town toy trace track trade
    train transfer transform travel tree trigger trip true trust try turn turtle type undo unit update upgrade
    upload url use user util utils validate value vapor verify version video view vine vision visit voice volume
    wait walk wall want warm warp wash watch water wave way weather web week weight wheel where will wind window
    wire wish wolf word work worker world wrap write year yes zero zone""".split()
)
"""A name that is one of these needs more than its letters to be recognised in prose."""
