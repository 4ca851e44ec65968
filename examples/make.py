"""The small data sets of this folder, from nothing but the standard library: python3 examples/make.py

All of it is made up: the numbers follow the rules written here, so that a model can be compared with the truth.
"""

import csv
import math
import pathlib
import random
import struct
import zlib

HERE = pathlib.Path(__file__).parent


def write_csv(name, header, rows):
    with open(HERE / name, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def houses():
    """Regression. The price follows the area, the district, the age, the bathrooms and the garden; the rest is noise."""
    rng = random.Random(1)
    district_price = {"centre": 90.0, "harbour": 60.0, "north": 15.0, "south": 0.0, "west": 25.0}
    header = ["area", "rooms", "bathrooms", "age", "garden", "distance_school", "distance_station", "floor",
              "noise_level", "sunshine", "district", "heating", "house_number", "price"]
    rows = []
    for _ in range(240):
        area = rng.uniform(35, 220)
        rooms = max(1, round(area / 28 + rng.gauss(0, 0.8)))
        bathrooms = 1 + (rng.random() < area / 300) + (rng.random() < area / 600)
        age, garden = rng.randint(0, 95), max(0.0, rng.gauss(80, 90))
        district = rng.choice(sorted(district_price))
        price = 40 + 2.4 * area + district_price[district] - 0.6 * age + 18 * bathrooms + 0.12 * garden + rng.gauss(0, 14)
        rows.append([f"{area:.0f}", rooms, bathrooms, age, f"{garden:.0f}", rng.randint(50, 3000), rng.randint(50, 5000),
                     rng.randint(0, 6), f"{rng.uniform(35, 75):.1f}", f"{rng.uniform(1200, 1900):.0f}", district,
                     rng.choice(["gas", "heat pump", "oil"]), rng.randint(1, 150), f"{price:.1f}"])
    write_csv("houses.csv", header, rows)


def patients():
    """Two classes, with groups of genes. Pathways 2 and 7 raise the risk; genes of a pathway move together."""
    rng = random.Random(2)
    genes, pathways = 60, 12
    names = [f"g{j + 1:02d}" for j in range(genes)]
    rows = []
    for _ in range(220):
        moods = [rng.gauss(0, 1) for _ in range(pathways)]
        values = [0.6 * moods[j // 5] + 0.8 * rng.gauss(0, 1) for j in range(genes)]
        risk = sum(0.55 * values[j] for j in range(5, 10)) - sum(0.6 * values[j] for j in range(30, 35))
        relapse = rng.random() < 1 / (1 + math.exp(-1.6 * risk - 0.3))
        rows.append([rng.randint(28, 85)] + [f"{v:.3f}" for v in values] + ["relapse" if relapse else "healthy"])
    write_csv("patients.csv", ["age"] + names + ["outcome"], rows)
    with open(HERE / "pathways.gmt", "w", encoding="utf-8") as file:
        for p in range(pathways):
            members = names[5 * p:5 * p + 5]
            if p == 4:
                members = members + [names[0]]  # a gene of two pathways
            file.write("\t".join([f"pathway_{p + 1}", "made up"] + members) + "\n")


def ratings():
    """A recommender: three tastes, generous people, good films. Most pairs have no rating."""
    rng = random.Random(3)
    people, films, tastes = 120, 60, 3
    generous, good = [rng.gauss(0, 0.5) for _ in range(people)], [rng.gauss(0, 0.6) for _ in range(films)]
    likes = [[rng.gauss(0, 0.7) for _ in range(tastes)] for _ in range(people)]
    has = [[rng.gauss(0, 0.7) for _ in range(tastes)] for _ in range(films)]
    rows = []
    for i in range(people):
        for j in sorted(rng.sample(range(films), rng.randint(12, 36))):
            value = 3.4 + generous[i] + good[j] + sum(a * b for a, b in zip(likes[i], has[j])) + rng.gauss(0, 0.3)
            rows.append([f"person{i + 1}", f"film{j + 1}", min(5, max(1, round(2 * value) / 2))])
    write_csv("ratings.csv", ["person", "film", "rating"], rows)


def png(name, width, height, pixels, colour_type):
    """Rows of bytes as a PNG file."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    raw = b"".join(b"\0" + bytes(row) for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")
    (HERE / name).write_bytes(data)


def harbour():
    """A picture: sky, sun, hills, houses, water with lights. Most of its pixels are transparent in the second file."""
    rng = random.Random(4)
    width, height = 240, 160
    sun = (170, 38, 14)
    blocks, x = [], 6
    while x < width - 20:
        w, top = rng.randint(10, 22), rng.randint(62, 88)
        blocks.append((x, x + w, top, [rng.randint(120, 235) for _ in range(3)]))
        x += w + rng.choice([0, 0, 4])

    def colour(x, y):
        if y > 104:  # water: the houses upside down, darker, in waves
            mirror = 208 - y + int(2 * math.sin(y / 2.2))
            r, g, b = land(x, max(0, mirror))
            shade = 0.62 + 0.05 * math.sin(y * 0.9)
            return [int(shade * r), int(shade * g + 8), int(shade * b + 22)]
        return land(x, y)

    def land(x, y):
        for left, right, top, rgb in blocks:
            if left <= x < right and top <= y <= 104:
                window = (x - left) % 6 in (2, 3) and (y - top) % 9 in (3, 4, 5) and y < 98
                return [255, 236, 150] if window else rgb
        if y > 104 - 18 * math.exp(-((x - 60) / 70) ** 2) - 26 * math.exp(-((x - 200) / 60) ** 2):
            return [70, 105, 80]
        if (x - sun[0]) ** 2 + (y - sun[1]) ** 2 < sun[2] ** 2:
            return [255, 226, 140]
        t = y / 104
        return [int(105 + 130 * t), int(155 + 45 * t), int(225 - 40 * t)]

    picture = [[colour(x, y) for x in range(width)] for y in range(height)]
    png("harbour.png", width, height, [[v for rgb in row for v in rgb] for row in picture], 2)
    seen = [[v for rgb in row for v in (rgb + [255] if rng.random() < 0.4 else [0, 0, 0, 0])] for row in picture]
    png("harbour_seen.png", width, height, seen, 6)


def npy(name, kind, values):
    """A vector as an NPY file."""
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    head = head.ljust(64 * ((len(head) + 10) // 64 + 1) - 11) + "\n"
    letter = {"<f8": "d", "<i8": "q"}[kind]
    body = struct.pack(f"<{len(values)}{letter}", *values)
    (HERE / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + body)


def signal():
    """Compressed sensing: 12 of 512 numbers, measured by 96 rows of the orthonormal cosine transform."""
    rng = random.Random(5)
    length, rows, k = 512, 96, 12
    x = [0.0] * length
    for j in rng.sample(range(length), k):
        x[j] = rng.choice([-1, 1]) * rng.uniform(1, 3)
    picked = sorted(rng.sample(range(length), rows))

    def transform(row):
        scale = math.sqrt((1 if row == 0 else 2) / length)
        return scale * sum(x[j] * math.cos(math.pi * (j + 0.5) * row / length) for j in range(length) if x[j])

    npy("signal_rows.npy", "<i8", picked)
    npy("signal_measured.npy", "<f8", [transform(row) for row in picked])
    npy("signal.npy", "<f8", x)


def cohort():
    """Genotypes as PLINK writes them. Four variants and the age make the disease; the height follows three others."""
    rng = random.Random(6)
    individuals, variants = 150, 300
    frequencies = [rng.uniform(0.1, 0.5) for _ in range(variants)]
    copies = [[sum(rng.random() < p for _ in range(2)) for p in frequencies] for _ in range(individuals)]
    alleles = [rng.choice(["A\tG", "C\tT", "G\tA", "T\tC"]) for _ in range(variants)]
    bed = bytearray(b"\x6c\x1b\x01")
    for j in range(variants):
        codes = [1 if rng.random() < 0.01 else {2: 0, 1: 2, 0: 3}[one[j]] for one in copies]
        for i in range(0, individuals, 4):
            bed.append(sum(code << 2 * place for place, code in enumerate(codes[i:i + 4])))
    (HERE / "cohort.bed").write_bytes(bed)
    bim = [f"1\trs{1001 + j}\t0\t{5000 * (j + 1)}\t{alleles[j]}\n" for j in range(variants)]
    (HERE / "cohort.bim").write_text("".join(bim))
    fam, traits, ages = [], ["FID IID height weight"], ["FID IID age"]
    for i, one in enumerate(copies):
        age = rng.randint(30, 80)
        risk = 1.5 * one[20] - 1.5 * one[90] + 1.4 * one[150] - 1.3 * one[240] + 0.06 * (age - 55)
        case = rng.random() < 1 / (1 + math.exp(-risk))
        fam.append(f"F{i // 3 + 1}\t{i + 1}\t0\t0\t{rng.randint(1, 2)}\t{-9 if i % 40 == 7 else 1 + case}\n")
        height = 170 + 4 * one[35] - 3 * one[120] + 3 * one[200] + rng.gauss(0, 3)
        traits.append(f"F{i // 3 + 1} {i + 1} {height:.1f} {rng.gauss(75, 12):.1f}")
        ages.append(f"F{i // 3 + 1} {i + 1} {age}")
    (HERE / "cohort.fam").write_text("".join(fam))
    (HERE / "cohort_traits.txt").write_text("\n".join(traits) + "\n")
    (HERE / "cohort_ages.txt").write_text("\n".join(ages) + "\n")


if __name__ == "__main__":
    for make in (houses, patients, ratings, harbour, signal, cohort):
        make()
