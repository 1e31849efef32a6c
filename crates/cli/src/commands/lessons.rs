//! The lessons of `rosenblatt demo LESSON`: rows that fit on a blackboard, and what to type about them.

use rosenblatt::blackboard;

/// Rows, and the commands that make a lesson of them.
pub(super) struct Lesson {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// The rows, as a table; kept as the lesson's name with `.csv`.
    pub(super) rows: &'static str,
    /// What is typed, after `rosenblatt`.
    pub(super) lines: &'static [&'static str],
    /// The settings of the page that show the same, as its address has them.
    pub(super) settings: &'static str,
    /// What was to be seen.
    pub(super) moral: &'static str,
}

/// Rows in the order of the file, and as they are.
const PLAIN: &str = "order=given&scaled=";

pub(super) const LESSONS: &[Lesson] = &[
    Lesson {
        name: "and",
        about: "The logical AND is linearly separable: the perceptron finds a line",
        rows: blackboard::AND,
        lines: &["trace and.csv", "certify and.csv", "plot boundary and.csv --frames -o and.svg"],
        settings: PLAIN,
        moral: "Every mistake turned the line a little; once a whole epoch went by without one, it stood still. The\n\
                proof counts how many mistakes there can be at most, whatever the order of the rows.",
    },
    Lesson {
        name: "xor",
        about: "The exclusive OR is not linearly separable, and here is the proof",
        rows: blackboard::XOR,
        lines: &["trace xor.csv", "certify xor.csv", "plot boundary xor.csv --frames -o xor.svg"],
        settings: PLAIN,
        moral: "The four steps of an epoch add up to nothing, so the perceptron goes round for ever. `demo kernel`\n\
                separates these rows with one more feature.",
    },
    Lesson {
        name: "lecture",
        about: "The worked example of the lecture: four points, a line through the origin",
        rows: blackboard::LECTURE,
        lines: &[
            "trace lecture.csv --bias none",
            "trace lecture.csv --bias none --to latex",
            "plot boundary lecture.csv --bias none --frames -o lecture.svg",
        ],
        settings: "order=given&scaled=&bias=none",
        moral: "Three mistakes, then a clean epoch. `--zero`, `--mistake`, `--bias` and `--order` name the points on\n\
                which textbooks disagree; `rosenblatt trace --help-all` lists them.",
    },
    Lesson {
        name: "margin",
        about: "How wide the road between the classes is, and how many mistakes that allows",
        rows: blackboard::MARGIN,
        lines: &[
            "trace margin.csv",
            "certify margin.csv",
            "plot boundary margin.csv --frames -o margin.svg",
            "plot boundary margin.csv --algorithm minover --scale none --epochs 2000 -o margin-widest.svg",
        ],
        settings: PLAIN,
        moral: "The perceptron takes the first line that works; the widest road is what `minover` and support vector\n\
                machines look for. Mistakes never exceed (R/margin)^2, both measured with the bias as a feature\n\
                that is always 1, and here they stayed below it.",
    },
    Lesson {
        name: "voted",
        about: "Noisy rows: why the last hypothesis is not the one to keep",
        rows: blackboard::VOTED,
        lines: &[
            "trace voted.csv --rounds 20",
            "compare voted.csv --algorithms perceptron:last,perceptron:averaged,perceptron:voted",
            "plot boundary voted.csv --frames -o voted.svg",
            "plot curves voted.csv --readouts last,averaged,voted -o voted-curves.svg",
        ],
        settings: "order=given&scaled=&learner=perceptron/last&learner=perceptron/averaged&learner=perceptron/voted",
        moral: "The last hypothesis has just reacted to one row, and its error jumps from epoch to epoch. The average of\n\
                all, each weighted by the rounds it survived, or a vote with the same weights, is steadier.",
    },
    Lesson {
        name: "overfitting",
        about: "Overfitting: the training error falls to nothing while the error on new rows rises",
        rows: blackboard::VOTED,
        lines: &[
            "train overfitting.csv --algorithm mlp --hidden 40 --rate 0.05 --holdout 0.5 --epochs 60 --model short.model",
            "train overfitting.csv --algorithm mlp --hidden 40 --rate 0.05 --holdout 0.5 --epochs 300 --model long.model",
            "plot curves overfitting.csv --algorithm mlp --hidden 40 --rate 0.05 --holdout 0.5 --epochs 300 \
             --readouts last -o overfitting-curves.svg",
            "plot boundary overfitting.csv --algorithm mlp --hidden 40 --rate 0.05 --epochs 300 -o overfitting.svg",
        ],
        settings: "order=given&scaled=1&epochs=300&learner=mlp/hidden=40/rate:0.05",
        moral: "Sixty noisy rows, and a network with room to know each of them by heart. Compare two lines of the reports\n\
                below: after 300 epochs the training error is lower than after 60, and the held-out error is higher.\n\
                Of 31 held-out rows, two more mistakes could be luck. The loss on them is not: open\n\
                overfitting-curves.svg, where it rises nearly from the start. In overfitting.svg the boundary winds\n\
                about single rows. Fewer hidden units, fewer epochs and more rows all help.",
    },
    Lesson {
        name: "kernel",
        about: "The exclusive OR with one more feature: from a product to a kernel",
        rows: blackboard::XOR,
        lines: &[
            "trace kernel.csv",
            "trace kernel.csv --cross x1,x2",
            "certify kernel.csv --kernel poly --degree 2 --bias none",
            "plot boundary kernel.csv --cross x1,x2 --columns 1,3 --frames -o kernel.svg",
            "plot boundary kernel.csv --kernel poly --degree 2 -o kernel-poly.svg",
        ],
        settings: "order=given&scaled=&learner=perceptron/last&learner=perceptron/last/kernel:polynomial,degree=2",
        moral: "With x1 times x2 as a third feature the weights settle on it alone. The polynomial kernel of degree 2\n\
                holds that product among others, and computes with it without ever writing it down.",
    },
    Lesson {
        name: "xor-mlp",
        about: "The exclusive OR, learned by a network of two hidden units",
        rows: blackboard::XOR_BITS,
        lines: &[
            "trace xor-mlp.csv --algorithm mlp --hidden 2 --activation tanh --rate 0.1",
            "plot boundary xor-mlp.csv --algorithm mlp --hidden 2 --activation tanh --rate 0.1 --optimiser sgd \
             --param batch=1 --param momentum=0 --param weight-decay=0 --epochs 300 --frames=12 -o xor-mlp.svg",
        ],
        settings: "order=given&scaled=&epochs=300&learner=mlp/hidden=2/rate:0.1",
        moral: "Each hidden unit has a line of its own, and the score adds up what they say of their sides: between the\n\
                lines one class, beyond them the other. Back-propagation moved both lines at once, each as far as it\n\
                had a part in the loss. The film goes on from the first round above, with the same steps. Two units fail\n\
                from some starts: then try another `--seed`, or more units. `demo approximation` shows what ever more\n\
                units can do.",
    },
    Lesson {
        name: "order",
        about: "The order of the rows: another line, other mistakes, the same bound",
        rows: blackboard::MARGIN,
        lines: &[
            "trace order.csv --order given --rounds 4",
            "trace order.csv --order shuffle-epoch --seed 1 --rounds 4",
            "plot boundary order.csv --order shuffle-epoch --seed 1 --frames -o order.svg",
        ],
        settings: "order=shuffle-epoch&seed=1&scaled=",
        moral: "The perceptron steps on one row at a time, so that the order decides which mistakes it makes and which line\n\
                it ends with. The bound (R/margin)^2 holds for every order. Shuffled epochs keep rows that are sorted by\n\
                class from pulling the line to and fro.",
    },
    Lesson {
        name: "rate",
        about: "The learning rate: from zero weights it changes their length, and no prediction",
        rows: blackboard::LECTURE,
        lines: &[
            "trace rate.csv --bias none",
            "trace rate.csv --bias none --rate 0.1",
            "plot boundary rate.csv --bias none --rate 0.1 --frames -o rate.svg",
        ],
        settings: "order=given&scaled=&bias=none&learner=perceptron/last&learner=perceptron/last/rate:0.1",
        moral: "Every weight of the second run is a tenth of the first, every mistake is the same: a step of rate times x\n\
                from zero scales the whole history, and a score keeps its sign. The rate matters for rules whose steps\n\
                hang on the size of the score, such as logistic regression and networks.",
    },
    Lesson {
        name: "scaling",
        about: "Columns in other units: why they are brought to one scale first",
        rows: PEOPLE,
        lines: &[
            "trace scaling.csv --rounds 4",
            "trace scaling.csv --scale standard --rounds 4",
            "plot boundary scaling.csv --scale standard --frames -o scaling.svg",
        ],
        settings: "order=given&scaled=1",
        moral: "Grams are thousands and metres are about one: a step moves the weight of the grams far and that of the metres\n\
                hardly at all, so the first run goes on making mistakes. On one scale, the same rows take a few steps.\n\
                `train` scales columns by itself.",
    },
    Lesson {
        name: "multiclass",
        about: "Three classes: one line for each against the rest, or one for each pair",
        rows: FRUIT,
        lines: &[
            "certify multiclass.csv",
            "trace multiclass.csv --multiclass one-vs-rest --rounds 2",
            "trace multiclass.csv --multiclass one-vs-one --rounds 2",
            "plot boundary multiclass.csv --multiclass one-vs-one -o multiclass.svg",
        ],
        settings: "order=given&scaled=&multiclass=one-vs-one",
        moral: "The apples lie between lemons and bananas, so that no line separates them from the rest: one line for each\n\
                class against the rest goes round for ever. Every two classes are separable, so one line for each pair\n\
                converges; the pairs then vote.",
    },
];

/// Grams and metres.
const PEOPLE: &str = "grams,metres,class\n61000,1.62,shorter\n63000,1.81,taller\n75000,1.66,shorter\n72000,1.88,taller\n\
    58000,1.58,shorter\n66000,1.84,taller\n70000,1.60,shorter\n78000,1.90,taller\n";

/// Three clouds along a line.
const FRUIT: &str = "sour,sweet,class\n8,2,lemon\n9,1,lemon\n9,3,lemon\n7,2,lemon\n5,5,apple\n4,6,apple\n5,4,apple\n\
    6,5,apple\n2,8,banana\n1,9,banana\n2,9,banana\n3,8,banana\n";
